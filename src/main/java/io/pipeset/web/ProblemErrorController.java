package io.pipeset.web;

import io.pipeset.job.JobLimits;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Answers what the servlet container has found wrong by itself. Where that was a body of
 * which no more comes, the container has already taken the answer over when the job's
 * report is ready, which is therefore kept for here.
 */
@RestController
class ProblemErrorController implements ErrorController {

	private static final String REPORT = ProblemErrorController.class.getName() + ".report";

	private final JobLimits limits;

	ProblemErrorController(JobLimits limits) {
		this.limits = limits;
	}

	static void keep(HttpServletRequest request, ResponseEntity<Object> report) {
		request.setAttribute(REPORT, report);
	}

	@RequestMapping("${spring.web.error.path:/error}")
	ResponseEntity<?> error(HttpServletRequest request) {
		if (request.getAttribute(REPORT) instanceof ResponseEntity<?> report) {
			return report;
		}
		Object code = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
		HttpStatus status = (code instanceof Integer number) ? HttpStatus.valueOf(number) : HttpStatus.NOT_FOUND;
		Object message = request.getAttribute(RequestDispatcher.ERROR_MESSAGE);
		if (status == HttpStatus.REQUEST_TIMEOUT) {
			return Problems.answer(Problems.detail(status, "stalled", "Nothing of the body came for "
					+ this.limits.bodyIdleTimeout().toMillis() + "ms (pipeset.limits.body-idle-timeout)"));
		}
		if (LimitedBody.isBroken(request.getAttribute(RequestDispatcher.ERROR_EXCEPTION))) {
			return ResponseEntity.status(status)
				.body(Problems.detail(status, "malformed-body", "In the body, " + LimitedBody.BROKEN));
		}
		String detail = (message instanceof String text && !text.isEmpty()) ? text : status.getReasonPhrase();
		return Problems.answer(Problems.detail(status, detail));
	}

}
