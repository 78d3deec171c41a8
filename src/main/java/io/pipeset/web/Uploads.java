package io.pipeset.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.input.BodyEncoding;
import io.pipeset.input.JobInput;
import io.pipeset.input.SpooledBody;
import io.pipeset.input.StoredBytes;
import io.pipeset.input.UploadedRecords;
import io.pipeset.input.source.UrlBody;
import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.mapping.CellSyntax;
import io.pipeset.record.mapping.Header;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Templates;
import io.pipeset.request.ByteLimit;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import io.pipeset.request.UrlPrefixes;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.LimitedBody;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/** Checks the bodies of requests, and opens uploads. */
@Component
class Uploads {

	private static final List<Setting<?>> FORMAT_SETTINGS = Setting.ofFormats();

	/** The first bytes of each gzip file (RFC 1952). */
	private static final byte[] GZIP_MAGIC = { 0x1f, (byte) 0x8b };

	private static final String FORM = "application/x-www-form-urlencoded";

	private final JobLimits limits;

	Uploads(JobLimits limits) {
		this.limits = limits;
	}

	/**
	 * Whether a request has no records: no body, and either no type or that of a form.
	 * {@code curl -X POST} and {@code curl -d ''} send such requests.
	 * @return {@code false} if the caller may have meant to send records
	 */
	static boolean hasNoRecords(HttpServletRequest request) {
		boolean untyped = request.getContentType() == null || FORM.equals(mediaType(request));
		return untyped && request.getHeader(HttpHeaders.TRANSFER_ENCODING) == null
				&& request.getContentLengthLong() <= 0;
	}

	/**
	 * Opens the body of a request.
	 * @param client the client of the request
	 * @param declared the number of records; {@code null} if the caller gives none
	 * @throws ErrorResponseException if the body's type, encoding or size is refused
	 */
	UploadedRecords open(HttpServletRequest request, Client client, Mapping mapping, @Nullable Long declared) {
		RecordFormat format = RecordFormat.of(mediaType(request));
		if (format == null) {
			throw unsupportedType(request);
		}
		check(format, mapping);
		Charset charset = charset(request.getContentType(), format, mapping.header().isAbsent());
		BodyEncoding encoding = bodyEncoding(encoding(request));
		ByteLimit limit = this.limits.ofBodies().and(client.ofBodies());
		long length = request.getContentLengthLong();
		if (length > limit.most()) {
			throw Problems.exception(Problem.TOO_LARGE, limit.exceededBy("body", String.valueOf(length)));
		}
		try {
			return new UploadedRecords(new LimitedBody(request, limit, encoding.isCompressed()), length, encoding,
					format, charset, declared);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Opens the resource of a URL.
	 * @param format the format that the request names; {@code null} for none
	 * @param isKept whether another process may resume the job
	 * @param limit after how many records the input ends; {@code null} for no limit
	 * @throws ErrorResponseException if the resource's type or encoding is refused
	 */
	static UploadedRecords open(UrlBody body, StoredBytes resource, RecordFormat format, Mapping mapping,
			boolean isKept, @Nullable Long limit) throws IOException {
		String type = body.header(HttpHeaders.CONTENT_TYPE);
		check(format, mapping);
		Charset charset = (RecordFormat.of(mediaType(type)) == format)
				? charset(type, format, mapping.header().isAbsent()) : StandardCharsets.UTF_8;
		String encoding = body.header(HttpHeaders.CONTENT_ENCODING);
		String file = UrlPrefixes.withoutQuery(body.version().url()).toLowerCase(Locale.ROOT);
		boolean named = encoding.isEmpty() || encoding.equals("aws-chunked");
		BodyEncoding found = bodyEncoding(
				(!named) ? encoding : (file.endsWith(".gz") || mediaType(type).endsWith("gzip")) ? "gzip"
						: (file.endsWith(".zst") || mediaType(type).endsWith("zstd")) ? "zstd" : "");
		// Google Cloud Storage may decompress a file on the way, and not say so.
		if (named && found == BodyEncoding.GZIP && body.startsWithOtherThan(GZIP_MAGIC)) {
			found = BodyEncoding.IDENTITY;
		}
		return UploadedRecords.of(body, new SpooledBody(resource, found, format, charset, body.version()), isKept,
				limit);
	}

	/** Refuses settings that do not fit the format of the records. */
	private static void check(RecordFormat format, Mapping mapping) {
		String problem = problem(format, mapping);
		if (problem != null) {
			throw Problems.exception(Problem.INVALID_SETTING, problem);
		}
	}

	private static @Nullable String problem(RecordFormat format, Mapping mapping) {
		boolean table = format == RecordFormat.CSV || format == RecordFormat.TSV;
		Templates templates = mapping.templates();
		if (format == RecordFormat.TSV && mapping.cells().escape() == CellSyntax.Escape.QUOTES) {
			return "'escape' is 'quotes', which has a meaning only for text/csv: cells of "
					+ RecordFormat.TSV.mediaType() + " have no quotes";
		}
		if (mapping.rows().entries() && format == RecordFormat.NDJSON) {
			return "'rows' is 'entries', which has a meaning only for " + RecordFormat.JSON.mediaType();
		}
		return (table && mapping.header().kind() == Header.Kind.FIRST_ROW && templates != null && templates
			.nameOnlyNumbers())
					? "'header' is missing: where templates name columns only by their numbers, say whether the first row"
							+ " has names (header=present) or data (header=absent)"
					: null;
	}

	/**
	 * Finds the format of a resource: by its media type, unless that is a general one, or
	 * else by its name.
	 * @throws ErrorResponseException if neither says it
	 */
	static RecordFormat format(UrlBody body) {
		String type = mediaType(body.header(HttpHeaders.CONTENT_TYPE));
		String file = UrlPrefixes.withoutQuery(body.version().url());
		RecordFormat ofType = RecordFormat.of(type);
		RecordFormat ofFile = RecordFormat.ofFile(file);
		RecordFormat found = (ofFile != null && (ofType == null || ofType == RecordFormat.TEXT)) ? ofFile : ofType;
		if (found == null) {
			String formats = Stream.of(RecordFormat.values())
				.map(RecordFormat::label)
				.collect(Collectors.joining(", "));
			throw Problems.exception(Problem.UNSUPPORTED_MEDIA_TYPE,
					file + " has the type '" + Excerpt.of(type) + "', and the end of its name is not known: say what"
							+ " its records are by format=, one of " + formats);
		}
		return found;
	}

	/**
	 * Refuses settings that do not apply to the format of the records.
	 * @param query the query string, before the settings are read from it
	 * @param format the format; {@code null} if it is unknown, or if there are none
	 * @param uploads whether the records have a format
	 */
	static void refuseForeignSettings(Query query, @Nullable RecordFormat format, boolean uploads) {
		if (uploads && format == null) {
			// The method that opens the body refuses it, with a better message.
			return;
		}
		for (Setting<?> row : FORMAT_SETTINGS) {
			if (query.has(row.name()) && (format == null || !row.formats().contains(format))) {
				String types = row.formats().stream().map(RecordFormat::mediaType).collect(Collectors.joining(", "));
				throw Problems.exception(Problem.INVALID_SETTING,
						"'" + row.name() + "' has a meaning only for an upload of " + types
								+ ((format != null) ? ", not of " + format.mediaType() : ""));
			}
		}
	}

	/**
	 * Refuses the setting that moves expiries, if no record can have an expiry.
	 * @param input the records. JSON records, and rows for SET, may have their own
	 * expiries
	 */
	static void refuseUselessJitter(JobSettings settings, JobInput input, HttpServletRequest request) {
		if (settings.records().recordDefaults().ttlJitter() == 0 || settings.expires()) {
			return;
		}
		RecordFormat format = (input instanceof UploadedRecords upload) ? upload.format() : null;
		boolean objects = format == RecordFormat.NDJSON || format == RecordFormat.JSON;
		boolean rows = (format == RecordFormat.CSV || format == RecordFormat.TSV)
				&& settings.records().operation() == Operation.SET;
		boolean ownExpiries = (objects || rows) && settings.records().mapping().templates() == null;
		if (!ownExpiries && Query.of(request).has(Setting.TTL_JITTER.name())) {
			throw Problems.exception(Problem.INVALID_SETTING,
					"'ttlJitter' has a meaning only with 'ttl' or 'expireAt': "
							+ ((format != null) ? "records of " + format.mediaType() : "generated records")
							+ " have no expiry of their own here");
		}
	}

	/**
	 * Refuses a body or an {@code Idempotency-Key}, for a call that runs no records.
	 * @throws ErrorResponseException if the request has either
	 */
	static void refuseBodyAndKey(HttpServletRequest request) {
		if (request.getHeader(IdempotencyKey.HEADER) != null) {
			throw Problems.exception(Problem.NOT_AVAILABLE, "The header '" + IdempotencyKey.HEADER
					+ "' is only for jobs of records: send the request to " + request.getRequestURI() + " without it");
		}
		refuseBody(request);
	}

	/** Refuses a body, for a call that reads none. */
	static void refuseBody(HttpServletRequest request) {
		if (!hasNoRecords(request)) {
			throw Problems.exception(Problem.UNEXPECTED_BODY, request.getRequestURI()
					+ " takes no records: send it without a body and Content-Type, or post the records to /v1/jobs");
		}
	}

	/**
	 * Reads the parameters of the media type, and refuses those that contradict how the
	 * body is read.
	 * @param namesColumns whether the setting {@code header} names the columns
	 * @return the charset of the body
	 */
	private static Charset charset(@Nullable String type, RecordFormat format, boolean namesColumns) {
		Charset charset = StandardCharsets.UTF_8;
		for (String parameter : parameters(type)) {
			Charset found = (parameter.startsWith("charset=")) ? charset(format, parameter.substring(8)) : null;
			if (found != null) {
				charset = found;
			}
			else if (!parameter.equals((namesColumns) ? "header=absent" : "header=present")) {
				throw Problems.exception(Problem.UNSUPPORTED_MEDIA_TYPE, "Content-Type '" + Excerpt.of(mediaType(type))
						+ "' is not supported with '" + Excerpt.of(parameter) + "'" + remedy(parameter, format));
			}
		}
		return charset;
	}

	private static String remedy(String parameter, RecordFormat format) {
		if (parameter.startsWith("charset=")) {
			return ": send UTF-8" + ((format.hasCharsets()) ? ", or name a charset that Java knows" : "");
		}
		return ": header=absent needs the setting 'header', which names the columns or is absent, and header=present"
				+ " excludes it";
	}

	private static @Nullable Charset charset(RecordFormat format, String name) {
		try {
			Charset charset = Charset.forName(name);
			return (format.hasCharsets() || charset.equals(StandardCharsets.UTF_8)
					|| charset.equals(StandardCharsets.US_ASCII)) ? charset : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private static List<String> parameters(@Nullable String type) {
		return Arrays.stream(String.valueOf(type).split(";", -1))
			.skip(1)
			.map((parameter) -> parameter.strip().replace("\"", "").toLowerCase(Locale.ROOT))
			.filter((parameter) -> parameter.startsWith("charset=") || parameter.startsWith("header="))
			.toList();
	}

	private static BodyEncoding bodyEncoding(String header) {
		BodyEncoding encoding = BodyEncoding.of(header);
		String reason = (encoding != null) ? encoding.unavailable() : "it is not supported";
		if (encoding == null || reason != null) {
			ErrorResponseException problem = Problems.exception(Problem.UNSUPPORTED_CONTENT_ENCODING,
					"Content-Encoding '" + Excerpt.of(header) + "' cannot be read here, because " + reason
							+ "; allowed are " + BodyEncoding.NAMES);
			problem.getHeaders().set(HttpHeaders.ACCEPT_ENCODING, BodyEncoding.NAMES);
			throw problem;
		}
		return encoding;
	}

	/** The encodings of the body; empty if there are none. */
	static String encoding(HttpServletRequest request) {
		return String.join(", ", Collections.list(request.getHeaders(HttpHeaders.CONTENT_ENCODING)));
	}

	private static ErrorResponseException unsupportedType(HttpServletRequest request) {
		List<String> types = Stream.of(RecordFormat.values()).map(RecordFormat::mediaType).toList();
		String type = mediaType(request);
		String reason = (type.isEmpty()) ? "The body has no Content-Type"
				: "Content-Type '" + Excerpt.of(type) + "' is not supported here";
		// The query string may have a URL with a token.
		String query = (request.getQueryString() != null) ? "?…" : "";
		ErrorResponseException problem = Problems.exception(Problem.UNSUPPORTED_MEDIA_TYPE,
				reason + "; send one of " + String.join(", ", types)
						+ ": curl --data-binary @records.ndjson -H 'Content-Type: " + types.get(0) + "' '"
						+ request.getRequestURL() + query + "'");
		problem.getHeaders().set("Accept-Post", String.join(", ", types));
		return problem;
	}

	static String mediaType(HttpServletRequest request) {
		return mediaType(request.getContentType());
	}

	private static String mediaType(@Nullable String type) {
		return (type != null) ? type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT) : "";
	}

}
