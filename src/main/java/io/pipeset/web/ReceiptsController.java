package io.pipeset.web;

import io.pipeset.job.Client;
import io.pipeset.job.pop.Receipts;
import io.pipeset.job.pop.Receipts.Answer;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * The calls by which the caller of a reliable pop acknowledges its values, or gives them
 * back.
 */
@RestController
class ReceiptsController {

	private static final int MOST_AT_ONCE = 16;

	private final Receipts receipts;

	private final CallPermits places = new CallPermits(MOST_AT_ONCE, "calls for receipts");

	ReceiptsController(Receipts receipts) {
		this.receipts = receipts;
	}

	@CallMapping(Call.ACKNOWLEDGE_VALUES)
	ResponseEntity<Void> acknowledge(@PathVariable String id, HttpServletRequest request) {
		check(id, request);
		Client client = Callers.current();
		return answer(this.places.take(client, () -> this.receipts.acknowledge(id, client.name())));
	}

	@CallMapping(Call.GIVE_BACK_VALUES)
	ResponseEntity<Void> giveBack(@PathVariable String id, HttpServletRequest request) {
		check(id, request);
		Client client = Callers.current();
		return answer(this.places.take(client, () -> this.receipts.giveBack(id, client.name())));
	}

	private static void check(String id, HttpServletRequest request) {
		PlainRequest.require(request);
		if (!JobIds.matches(id)) {
			throw Problems.exception(Problem.NOT_FOUND,
					"'" + Excerpt.of(id) + "' is no job's id: take the jobId of the report whose values are meant");
		}
	}

	private static ResponseEntity<Void> answer(Answer answer) {
		return switch (answer) {
			case DONE -> ResponseEntity.noContent().build();
			case BLOCKED -> ResponseEntity.accepted().build();
			case PENDING -> throw Problems.exception(Problem.RECEIPT_PENDING,
					"The job has not handed its receipt over, because it still runs or came to no good end: its"
							+ " values cannot be acknowledged, and go back at the deadline");
			case GONE -> throw Problems.exception(Problem.GONE,
					"There is no receipt of this job, or no longer: it was acknowledged, or its values have gone"
							+ " back to their list");
		};
	}

}
