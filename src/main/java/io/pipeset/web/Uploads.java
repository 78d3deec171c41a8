package io.pipeset.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;

import io.pipeset.job.JobInput;
import io.pipeset.job.JobLimits;
import io.pipeset.record.RecordFormat;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/** Tells an upload from a request without one, and opens it. */
@Component
class Uploads {

	private static final String FORM = "application/x-www-form-urlencoded";

	/** What a caller may ask for that changes what a call does, and is not there yet. */
	private static final List<String> HEADERS_TO_COME = List.of("Idempotency-Key", "Prefer");

	private final JobLimits limits;

	Uploads(JobLimits limits) {
		this.limits = limits;
	}

	/**
	 * Whether the request carries no records: it has no type and no body, as
	 * {@code curl -X POST} and {@code curl -d ''} send it.
	 * @param request the request
	 * @return {@code false} wherever records may have been meant
	 */
	static boolean isAbsent(HttpServletRequest request) {
		boolean untyped = request.getContentType() == null || FORM.equals(mediaType(request));
		return untyped && request.getHeader(HttpHeaders.TRANSFER_ENCODING) == null
				&& request.getContentLengthLong() <= 0;
	}

	/**
	 * Opens the body.
	 * @param request a request with records
	 * @param declared how many there are, where the caller says so
	 * @return the records
	 * @throws ErrorResponseException if the body's type, encoding or size is refused
	 */
	JobInput.Uploaded open(HttpServletRequest request, @Nullable Long declared) {
		refuseToCome(request);
		RecordFormat format = RecordFormat.of(mediaType(request));
		if (format == null) {
			throw unsupportedType(request);
		}
		refuseEncoding(request);
		long maxBytes = this.limits.maxBodyBytes().toBytes();
		long length = request.getContentLengthLong();
		if (length > maxBytes) {
			throw Problems.exception(HttpStatus.CONTENT_TOO_LARGE, "limit",
					LimitedBody.tooLarge(String.valueOf(length), maxBytes));
		}
		try {
			return new JobInput.Uploaded(new LimitedBody(request.getInputStream(), length, maxBytes), format, declared);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static void refuseToCome(HttpServletRequest request) {
		for (String header : HEADERS_TO_COME) {
			if (request.getHeader(header) != null) {
				throw Problems.badRequest("not-available", "The header '" + header
						+ "' is not available in this version: without it the job runs at once, and each time it is sent");
			}
		}
	}

	private static void refuseEncoding(HttpServletRequest request) {
		String encoding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
		if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
			throw Problems.exception(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-content-encoding",
					"Content-Encoding '" + encoding + "' is not available in this version; send the body as it is");
		}
	}

	private static ErrorResponseException unsupportedType(HttpServletRequest request) {
		List<String> types = RecordFormat.ALL.stream().map(RecordFormat::mediaType).toList();
		String type = mediaType(request);
		String met = (type.isEmpty()) ? "The body has no Content-Type" : "Content-Type '" + type + "' is not read here";
		String query = (request.getQueryString() != null) ? "?" + request.getQueryString() : "";
		ErrorResponseException problem = Problems.exception(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type",
				met + "; send one of " + String.join(", ", types)
						+ ": curl --data-binary @records.ndjson -H 'Content-Type: " + types.get(0) + "' '"
						+ request.getRequestURL() + query + "'");
		problem.getHeaders().set("Accept-Post", String.join(", ", types));
		return problem;
	}

	private static String mediaType(HttpServletRequest request) {
		String type = request.getContentType();
		return (type != null) ? type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT) : "";
	}

}
