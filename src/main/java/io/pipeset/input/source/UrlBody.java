package io.pipeset.input.source;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.input.FetchedBody;
import io.pipeset.input.SourceException;
import io.pipeset.input.UrlVersion;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.request.BodyLimitException;
import io.pipeset.request.ByteLimit;
import io.pipeset.request.UrlPrefixes;
import org.jspecify.annotations.Nullable;

/**
 * The resource of a URL. A connection that breaks is taken up again at the next byte, by
 * {@code Range} with {@code If-Range}
 * (<a href="https://www.rfc-editor.org/rfc/rfc9110#section-14">RFC 9110</a>), so that the
 * reader gets each byte of one version of the resource once. One thread reads.
 */
public final class UrlBody extends FetchedBody {

	private static final int MAX_REDIRECTS = 5;

	private final UrlSources sources;

	private final URI url;

	private final Predicate<URI> allowed;

	private final ByteLimit limit;

	/** Ends waits when the body is aborted. */
	private final JobStop aborted = new JobStop();

	private final Backoff backoff;

	/** Before the first response, a caller waits, and the URL may be wrong. */
	private final Backoff firstBackoff;

	/** The version of the first response; {@code null} before it. */
	private @Nullable UrlVersion version;

	private @Nullable HttpHeaders head;

	private @Nullable ScheduledFuture<?> watch;

	/** The request that waits for its response; {@code null} if none does. */
	private volatile @Nullable CompletableFuture<HttpResponse<InputStream>> request;

	private volatile @Nullable InputStream response;

	/** When the current read began to wait, in nanoseconds; 0 if none waits. */
	private volatile long waitsSince;

	private long received;

	/** Whether a caller waits for the first bytes, before there is a job. */
	private volatile boolean begins;

	/** The first bytes, which were read before the reader; empty when it has them. */
	private byte[] first = new byte[0];

	private final AtomicLong breaks = new AtomicLong();

	/**
	 * A body that is not opened yet.
	 * @param version the version that the body must have; {@code null} for any
	 * @param allowed the URLs to which a redirect may lead
	 * @param limit the most bytes
	 */
	UrlBody(UrlSources sources, URI url, @Nullable UrlVersion version, Predicate<URI> allowed, ByteLimit limit) {
		this.sources = sources;
		this.url = url;
		this.version = version;
		this.allowed = allowed;
		this.limit = limit;
		this.backoff = new Backoff(sources.timeout(), this.aborted);
		this.firstBackoff = new Backoff(sources.firstTimeout(), this.aborted);
	}

	/** Waits for the head of the response. */
	void open() throws IOException {
		attempt(new byte[0], 0, 0);
	}

	/** Connects and reads, again after each connection that breaks. */
	private int attempt(byte[] target, int offset, int length) throws IOException {
		while (true) {
			boolean connected = false;
			try {
				while (this.response == null && !isAtEnd()) {
					connect();
				}
				connected = true;
				return (length > 0) ? readOnce(target, offset, length) : 0;
			}
			catch (BodyLimitException | SourceException ex) {
				if (!connected) {
					closeResponse();
				}
				throw ex;
			}
			catch (IOException ex) {
				closeResponse();
				this.breaks.addAndGet((connected) ? 1 : 0);
				backOff(ex);
			}
		}
	}

	/** Whether all bytes of a resource with a known length were received. */
	private boolean isAtEnd() {
		return this.version != null && this.version.length() == this.received;
	}

	/** The version of the resource, after it was opened. */
	public UrlVersion version() {
		UrlVersion version = this.version;
		return (version != null) ? version : new UrlVersion(this.url.toString(), -1, null);
	}

	/**
	 * A header of the first response.
	 * @return an empty text if it has none
	 */
	public String header(String name) {
		HttpHeaders head = this.head;
		return (head != null) ? String.join(", ", head.allValues(name)) : "";
	}

	/**
	 * Whether the end of the resource can be told from a broken connection.
	 * @return {@code false} if the response has neither a length nor chunks
	 */
	public boolean hasEnd() {
		return version().length() >= 0 || header("Transfer-Encoding").contains("chunked");
	}

	/**
	 * Whether the resource begins with other bytes than these. This waits for them, as
	 * long as for the first response; the reader gets them too. Called before the first
	 * read.
	 */
	public boolean startsWithOtherThan(byte... bytes) throws IOException {
		this.begins = true;
		this.first = readNBytes(bytes.length);
		this.begins = false;
		return this.first.length == bytes.length && !Arrays.equals(bytes, this.first);
	}

	/** The URL as reports and messages show it. */
	private String shown() {
		return UrlPrefixes.withoutQuery(this.url.toString());
	}

	@Override
	public int available() throws IOException {
		InputStream response = this.response;
		return (response != null) ? response.available() : 0;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		if (this.first.length > 0) {
			int bytes = Math.min(length, this.first.length);
			System.arraycopy(this.first, 0, target, offset, bytes);
			this.first = Arrays.copyOfRange(this.first, bytes, this.first.length);
			return bytes;
		}
		return attempt(target, offset, length);
	}

	/** Returns all bytes within the limit before it reads the one that exceeds it. */
	private int readOnce(byte[] target, int offset, int length) throws IOException {
		if (isAtEnd()) {
			return -1;
		}
		long left = this.limit.most() - this.received;
		long known = version().length();
		long rest = (known >= 0) ? known - this.received : Long.MAX_VALUE;
		int bytes = readSome(target, offset, (int) Math.min(Math.min(length, rest), Math.max(1, left)));
		if (bytes > left) {
			throw new BodyLimitException(this.limit.exceededBy("body", "more than " + this.limit.most()));
		}
		if (bytes < 0 && known >= 0) {
			throw new IOException("the response ended before its length");
		}
		if (bytes >= 0) {
			this.received += bytes;
			this.backoff.end();
		}
		return bytes;
	}

	private int readSome(byte[] target, int offset, int length) throws IOException {
		InputStream response = this.response;
		if (response == null) {
			throw new IOException("the response was closed");
		}
		this.waitsSince = Math.max(1, System.nanoTime());
		try {
			return response.read(target, offset, length);
		}
		finally {
			this.waitsSince = 0;
		}
	}

	/** Waits before the next attempt. */
	private void backOff(IOException failure) throws SourceException {
		if (!((this.version != null && !this.begins) ? this.backoff : this.firstBackoff).next()) {
			String what = HttpFailures.describe(failure, "the server", this.sources.idleTimeout());
			throw new SourceException(failed((this.aborted.isSet()) ? "the job was stopped"
					: (this.version == null || this.begins) ? what : what + ", and nothing came for "
							+ DurationText.of(this.sources.timeout()) + " (pipeset.sources.timeout)"),
					failure);
		}
	}

	/** A message about this URL, and how far it was read. */
	private String failed(String what) {
		return shown() + ": " + what + ((this.received > 0) ? ", after " + this.received + " bytes" : "");
	}

	/** Sends the request for the bytes that were not received yet. */
	private void connect() throws IOException {
		URI target = this.url;
		for (int redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
			if (!this.allowed.test(target)) {
				throw refused("it is redirected to a URL that is not allowed");
			}
			HttpResponse<InputStream> response = send(request(target));
			int status = response.statusCode();
			if (status == 200 || status == 206) {
				accept(response);
				return;
			}
			response.body().close();
			if (status == 416 && endsHere(response.headers())) {
				return;
			}
			String location = response.headers().firstValue("Location").orElse("");
			if (status / 100 != 3 || location.isEmpty()) {
				throw failure(status);
			}
			URI next = resolve(target, location);
			if (next == null) {
				throw refused("it is redirected to a URL that is not " + UrlPrefixes.ALLOWED);
			}
			target = next;
		}
		throw refused("it is redirected more than " + MAX_REDIRECTS + " times");
	}

	private static @Nullable URI resolve(URI target, String location) {
		try {
			return UrlPrefixes.parse(target.resolve(location).toString().replaceFirst("#.*", ""),
					UrlPrefixes.MAX_SIGNED_URL_LENGTH);
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private HttpRequest request(URI target) {
		// A body that the server compresses on the fly has no ranges.
		HttpRequest.Builder request = HttpRequest.newBuilder(target)
			.timeout((this.version != null) ? this.sources.idleTimeout() : this.sources.firstTimeout())
			.header("Accept-Encoding", "identity")
			.header("User-Agent", "Pipeset");
		String validator = version().validator();
		if (this.received > 0) {
			request.header("Range", "bytes=" + this.received + "-");
			if (validator != null) {
				request.header("If-Range", validator);
			}
		}
		return request.build();
	}

	private HttpResponse<InputStream> send(HttpRequest request) throws IOException {
		HttpClient http = this.sources.http();
		CompletableFuture<HttpResponse<InputStream>> sent = http.sendAsync(request, BodyHandlers.ofInputStream());
		this.request = sent;
		try {
			if (this.aborted.isSet()) {
				sent.cancel(true);
			}
			return sent.get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			sent.cancel(true);
			throw new IOException(ex);
		}
		catch (ExecutionException | CancellationException ex) {
			throw new IOException(ex);
		}
		finally {
			this.request = null;
		}
	}

	/** An exception for a status, retried if the server may answer otherwise soon. */
	private IOException failure(int status) {
		String answer = "the server answered " + status;
		if (status == 408 || status == 425 || status == 429 || status / 100 == 5) {
			return new IOException(new HttpFailures.StatusException(answer));
		}
		if (status == 412 || status == 416) {
			return refused(UrlResponse.CHANGED);
		}
		return refused(answer + ((status == 401 || status == 403) ? ": the signature of a URL may have expired" : ""));
	}

	/** An exception for a resource that is not tried again. */
	private SourceException refused(String why) {
		return new SourceException(failed(why), null);
	}

	/**
	 * Whether a server that was asked for the next byte says that there is none. It says
	 * so of the version of the {@code If-Range}, or else answers the whole.
	 */
	private boolean endsHere(HttpHeaders headers) {
		UrlVersion known = this.version;
		if (known == null || known.length() >= 0
				|| !headers.firstValue("Content-Range").orElse("").equals("bytes */" + this.received)) {
			return false;
		}
		UrlResponse end = new UrlResponse(UrlResponse.PART, headers, this.received);
		if (end.differs(known, end.version(known.url()), null) != null) {
			return false;
		}
		this.version = new UrlVersion(known.url(), this.received, known.validator());
		return true;
	}

	/** Takes a response, if it goes on with the same version at the next byte. */
	private void accept(HttpResponse<InputStream> response) throws IOException {
		this.response = response.body();
		UrlResponse part = new UrlResponse(response.statusCode(), response.headers(), this.received);
		UrlVersion known = this.version;
		UrlVersion found = part.version(this.url.toString());
		String refused = part.refused();
		if (refused == null && known != null) {
			refused = part.differs(known, found, this.head);
		}
		if (refused != null) {
			throw refused(refused);
		}
		if (known == null && found.length() > this.limit.most()) {
			throw new BodyLimitException(this.limit.exceededBy("body", String.valueOf(found.length())));
		}
		if (known == null) {
			this.version = found;
		}
		else if (known.length() < 0 && found.length() >= 0) {
			this.version = new UrlVersion(known.url(), found.length(), known.validator());
		}
		this.head = (this.head != null) ? this.head : response.headers();
		if (this.watch == null) {
			this.watch = this.sources.watch(this::breakIfIdle);
		}
		if (this.aborted.isSet()) {
			closeResponse();
		}
	}

	/** Ends a read for which nothing has come for too long, so that it is tried again. */
	private void breakIfIdle() {
		long since = this.waitsSince;
		Duration most = (this.begins) ? this.sources.firstTimeout() : this.sources.idleTimeout();
		if (since != 0 && System.nanoTime() - since > most.toNanos()) {
			closeResponse();
		}
	}

	private void closeResponse() {
		InputStream response = this.response;
		this.response = null;
		if (response != null) {
			try {
				response.close();
			}
			catch (IOException ex) {
				// It is not read any more.
			}
		}
	}

	@Override
	public void abort() {
		this.aborted.stop(Cause.CANCELLED, "");
		CompletableFuture<?> request = this.request;
		if (request != null) {
			request.cancel(true);
		}
		closeResponse();
	}

	@Override
	public void close() {
		abort();
		ScheduledFuture<?> watch = this.watch;
		if (watch != null) {
			watch.cancel(false);
		}
	}

	@Override
	public void addTo(Map<String, Object> report) {
		report.put("from", "url");
		report.put("url", shown());
	}

	@Override
	public List<Warning> warnings() {
		long breaks = this.breaks.get();
		return (breaks == 0) ? List.of() : List.of(new Warning("SOURCE_BROKE_OFF", null,
				"The connection to the URL broke off " + breaks + " times, and was taken up again at the next byte.",
				breaks));
	}

}
