package io.pipeset.web;

import io.pipeset.pop.Receipts;
import io.pipeset.pop.Receipts.Answer;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The calls by which the caller of a reliable pop acknowledges its values, or gives them
 * back.
 */
@RestController
class ReceiptsController {

	private static final int MOST_AT_ONCE = 16;

	private final Receipts receipts;

	private final CallPlaces places = new CallPlaces(MOST_AT_ONCE, "calls for receipts");

	ReceiptsController(Receipts receipts) {
		this.receipts = receipts;
	}

	@PostMapping("/v1/jobs/{id}/ack")
	ResponseEntity<Void> acknowledge(@PathVariable String id, HttpServletRequest request) {
		check(id, request);
		String client = Callers.current().name();
		return answer(this.places.take(() -> this.receipts.acknowledge(id, client)));
	}

	@PostMapping("/v1/jobs/{id}/nack")
	ResponseEntity<Void> giveBack(@PathVariable String id, HttpServletRequest request) {
		check(id, request);
		String client = Callers.current().name();
		return answer(this.places.take(() -> this.receipts.giveBack(id, client)));
	}

	private static void check(String id, HttpServletRequest request) {
		Uploads.refuse(request);
		SettingsReader.refuseAll(Query.of(request));
		if (!JobIds.matches(id)) {
			throw Problems.exception(HttpStatus.NOT_FOUND, "not-found",
					"'" + Excerpt.of(id) + "' is no job's id: take the jobId of the report whose values are meant");
		}
	}

	private static ResponseEntity<Void> answer(Answer answer) {
		return switch (answer) {
			case DONE -> ResponseEntity.noContent().build();
			case BLOCKED -> ResponseEntity.accepted().build();
			case PENDING -> throw Problems.exception(HttpStatus.CONFLICT, "receipt-pending",
					"The job has not handed its receipt over, because it still runs or came to no good end: its"
							+ " values cannot be acknowledged, and go back at the deadline");
			case FOREIGN -> throw Problems.exception(HttpStatus.NOT_FOUND, "not-found", "There is no such job here");
			case GONE -> throw Problems.exception(HttpStatus.GONE, "gone",
					"There is no receipt of this job, or no longer: it was acknowledged, or its values have gone"
							+ " back to their list");
		};
	}

}
