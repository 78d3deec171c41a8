package io.pipeset.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.List;
import java.util.regex.Pattern;

import io.pipeset.input.SourceException;
import io.pipeset.input.source.UrlBody;
import io.pipeset.input.source.UrlSources;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.request.BodyLimitException;
import io.pipeset.request.Client;
import io.pipeset.request.Setting;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.ErrorResponseException;

/**
 * The parameters of a job whose records come from a URL, from a query string.
 *
 * @param format {@code null} if the response says it
 * @param limit the most records to read; {@code null} for all
 */
record UrlQuery(URI url, @Nullable RecordFormat format, @Nullable Long limit) {

	static final List<Setting<?>> PARAMETERS = List.of(Setting.FROM, Setting.URL, Setting.FORMAT, Setting.LIMIT);

	static final String[] NAMES = PARAMETERS.stream().map(Setting::name).toArray(String[]::new);

	/** The parameters of signed URLs of S3, GCS, Azure and CloudFront. */
	private static final Pattern OF_SIGNATURE = Pattern.compile(
			"x-(amz|goog|ms|oss)-.*|sig|se|sp|sv|sr|st|signature|expires|awsaccesskeyid|googleaccessid|policy|key-pair-id",
			Pattern.CASE_INSENSITIVE);

	/**
	 * Takes the parameters, after {@code from}.
	 * @throws ErrorResponseException if one is missing or wrong
	 */
	static UrlQuery take(Query query) {
		for (String name : query.rest()) {
			if (OF_SIGNATURE.matcher(name).matches()) {
				throw Problems.exception(Problem.INVALID_SETTING,
						"'" + Excerpt.of(name) + "' belongs to the query of the URL: percent-encode the whole URL, as"
								+ " curl -G --data-urlencode url=https://... does");
			}
		}
		URI url = Setting.URL.take(query::take)
			.orElseThrow(() -> Problems.exception(Problem.INVALID_SETTING,
					"'url' is missing: from=url needs the URL of the records, percent-encoded, as"
							+ " curl -G --data-urlencode url=https://... does"));
		return new UrlQuery(url, Setting.FORMAT.take(query::take).orElse(null),
				Setting.LIMIT.take(query::take).orElse(null));
	}

	/**
	 * Checks that the client may have the URL fetched.
	 * @throws ErrorResponseException if the request has a body, or URLs are switched off
	 */
	void check(HttpServletRequest request, UrlSources sources, Client client) {
		if (!Uploads.hasNoRecords(request)) {
			throw Problems.exception(Problem.UNEXPECTED_BODY, "With from=url the records come from the URL:"
					+ " send the request without a body and Content-Type, or the records without 'from'");
		}
		if (!sources.areEnabled()) {
			throw Problems.exception(Problem.DISABLED, "The service fetches no URLs: pipeset.sources.urls is not set");
		}
		if (this.limit != null && AsyncJobs.isRequested(request)) {
			throw Problems.exception(Problem.INVALID_SETTING,
					"'limit' is for a trial of a URL, which does not outlive its request: leave out Prefer: respond-async");
		}
		sources.require(client, this.url);
	}

	/**
	 * Fetches the resource.
	 * @param client the client of the request, which may use the URL
	 * @return the body, whose head has arrived
	 * @throws ErrorResponseException if the URL has no resource
	 */
	UrlBody open(UrlSources sources, Client client) {
		return fetch(() -> sources.open(client, this.url));
	}

	/**
	 * Fetches before the job begins.
	 * @throws ErrorResponseException if that fails
	 */
	static <T> T fetch(Fetch<T> fetch) {
		try {
			return fetch.run();
		}
		catch (SourceException ex) {
			throw Problems.exception(Problem.SOURCE_FAILED, ex.getMessage() + ". Nothing was run");
		}
		catch (BodyLimitException ex) {
			throw Problems.exception(Problem.TOO_LARGE, String.valueOf(ex.getMessage()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Waits for bytes of a resource. */
	@FunctionalInterface
	interface Fetch<T> {

		T run() throws IOException;

	}

}
