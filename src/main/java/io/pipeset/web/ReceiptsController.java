package io.pipeset.web;

import io.pipeset.receipt.Receipts;
import io.pipeset.receipt.Receipts.Answer;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.request.Client;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * The calls that acknowledge the values of a reliable pop, or give them back to their
 * list.
 */
@RestController
class ReceiptsController {

	private static final int MOST_AT_ONCE = 16;

	private final Receipts receipts;

	private final CallPermits permits = new CallPermits(MOST_AT_ONCE, "calls for receipts");

	ReceiptsController(Receipts receipts) {
		this.receipts = receipts;
	}

	@CallMapping(Call.ACKNOWLEDGE_VALUES)
	ResponseEntity<Void> acknowledge(@PathVariable String id, HttpServletRequest request) {
		check(id, request);
		Client client = CurrentClient.get();
		return answer(this.permits.run(client, () -> this.receipts.acknowledge(id, client.name())));
	}

	@CallMapping(Call.GIVE_BACK_VALUES)
	ResponseEntity<Void> giveBack(@PathVariable String id, HttpServletRequest request) {
		check(id, request);
		Client client = CurrentClient.get();
		return answer(this.permits.run(client, () -> this.receipts.giveBack(id, client.name())));
	}

	private static void check(String id, HttpServletRequest request) {
		PlainRequest.require(request);
		if (!JobIds.matches(id)) {
			throw Problems.exception(Problem.NOT_FOUND,
					"'" + Excerpt.of(id) + "' is not the id of a job: use the jobId of the report that has the values");
		}
	}

	private static ResponseEntity<Void> answer(Answer answer) {
		return switch (answer) {
			case DONE -> ResponseEntity.noContent().build();
			case BLOCKED -> ResponseEntity.accepted().build();
			case PENDING -> throw Problems.exception(Problem.RECEIPT_PENDING,
					"The job still runs, or it ended without handing over its receipt. Its values cannot be"
							+ " acknowledged now, and go back to their list at the deadline");
			case GONE -> throw Problems.exception(Problem.GONE,
					"This job has no receipt, or no longer has one: it was acknowledged, or its values went back"
							+ " to their list");
		};
	}

}
