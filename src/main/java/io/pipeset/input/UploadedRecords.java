package io.pipeset.input;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.pipeset.record.RecordReader;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.request.ByteLimit;
import org.jspecify.annotations.Nullable;

/** Records in a body, which a caller uploads or the service fetches from a URL. */
public final class UploadedRecords implements JobInput {

	private static final int DIGEST_BUFFER_BYTES = 64 << 10;

	private final InputStream body;

	private final long length;

	private final BodyEncoding encoding;

	private final RecordFormat format;

	private final Charset charset;

	private final @Nullable Long declared;

	private final @Nullable String jobId;

	private final @Nullable SpooledBody spooled;

	private @Nullable Long limit;

	/** The body if the service fetches it; {@code null} for an upload. */
	private final @Nullable FetchedBody fetched;

	/** Digests the inflated bytes; {@code null} if no digest is needed. */
	private @Nullable BodyDigest digest;

	private volatile @Nullable LendingInputStream opened;

	private volatile @Nullable RecordReader reader;

	/**
	 * An upload that has not begun.
	 * @param body the bytes of the records, read once and never held whole
	 * @param length how many bytes there are; -1 if unknown
	 * @param encoding how the bytes are compressed
	 * @param charset the charset of the inflated bytes
	 * @param declared how many records the caller has declared; {@code null} if none
	 */
	public UploadedRecords(InputStream body, long length, BodyEncoding encoding, RecordFormat format, Charset charset,
			@Nullable Long declared) {
		this(body, length, encoding, format, charset, declared, null, null);
	}

	private UploadedRecords(InputStream body, long length, BodyEncoding encoding, RecordFormat format, Charset charset,
			@Nullable Long declared, @Nullable String jobId, @Nullable SpooledBody spooled) {
		this.jobId = jobId;
		this.spooled = spooled;
		this.body = body;
		this.fetched = (body instanceof FetchedBody source) ? source : null;
		this.length = length;
		this.encoding = encoding;
		this.format = format;
		this.charset = charset;
		this.declared = declared;
	}

	/**
	 * The same upload, read from a stored copy of its body.
	 * @param jobId the id of the job that will read it
	 * @param copy the copy
	 * @return an upload that has not begun
	 */
	public UploadedRecords from(String jobId, StoredBytes copy) {
		UploadedRecords copied = of(jobId, new SpooledBody(copy, this.encoding, this.format, this.charset, null),
				this.declared);
		copied.digest = this.digest;
		return copied;
	}

	/**
	 * Records that the service fetches from a URL.
	 * @param body the open resource
	 * @param resource the same resource, to be read again
	 * @param kept whether the job's outcomes are kept, so that another process can resume
	 * it
	 * @param limit the most records to read; {@code null} for all
	 */
	public static UploadedRecords of(FetchedBody body, SpooledBody resource, boolean kept, @Nullable Long limit) {
		UploadedRecords records = new UploadedRecords(body, resource.bytes().bytes(), resource.encoding(),
				resource.format(), resource.charset(), null, null, (kept) ? resource : null);
		records.limit = limit;
		return records;
	}

	/**
	 * Records whose body is stored already.
	 * @param jobId the id of the job that will read it
	 * @param declared how many records the caller has declared; {@code null} if none
	 */
	public static UploadedRecords of(String jobId, SpooledBody body, @Nullable Long declared) {
		return new UploadedRecords(body.bytes().open(), body.bytes().bytes(), body.encoding(), body.format(),
				body.charset(), declared, jobId, body);
	}

	/**
	 * Sets the digest that is updated while the body is read.
	 * @param digest receives the inflated bytes
	 */
	public void digestTo(BodyDigest digest) {
		this.digest = digest;
	}

	/**
	 * Reads the body only to digest it, as far as an earlier body was digested that it is
	 * compared with.
	 * @param digest receives the inflated bytes
	 * @param bytes how many bytes of the earlier body were digested
	 * @param whole whether the earlier body ended there; if not, it was not read to its
	 * end, and the bytes that follow do not matter
	 * @param limit the most inflated bytes
	 * @param memory reserves memory to inflate the body
	 * @param beforePart runs before each part is read; may throw an exception to end the
	 * reading
	 * @throws IOException if the body cannot be read
	 */
	public void digest(BodyDigest digest, long bytes, boolean whole, ByteLimit limit, MemoryReservation memory,
			Runnable beforePart) throws IOException {
		try (InputStream inflated = this.encoding.decompress(this.body, limit, memory)) {
			InputStream digested = digest.of(inflated);
			byte[] buffer = new byte[DIGEST_BUFFER_BYTES];
			boolean more = true;
			while (more && digest.bytes() < bytes) {
				beforePart.run();
				more = digested.read(buffer, 0, (int) Math.min(buffer.length, bytes - digest.bytes())) >= 0;
			}
			if (more && whole && inflated.read() < 0) {
				digest.end();
			}
		}
	}

	/**
	 * The body on disk.
	 * @return {@code null} if the caller uploads the body
	 */
	public @Nullable SpooledBody spooled() {
		return this.spooled;
	}

	/** The body, to be copied before the upload begins. */
	public InputStream body() {
		return this.body;
	}

	/**
	 * The length of the body.
	 * @return bytes; -1 if unknown
	 */
	public long length() {
		return this.length;
	}

	/** The format of the records. */
	public RecordFormat format() {
		return this.format;
	}

	@Override
	public String jobId(String fresh) {
		return (this.jobId != null) ? this.jobId : fresh;
	}

	@Override
	public void open(InputContext context, Consumer<RecordReader> records) {
		FetchedBody source = this.fetched;
		Runnable abort = (source != null) ? source::abort : () -> {
		};
		context.job().stop().add(abort);
		StoppedUpload stopped = new StoppedUpload(context.job().stop(), context.job().executor(),
				(source != null) ? Caller.SERVICE : context.caller());
		try {
			LendingInputStream lending = new LendingInputStream(this.body, context.lanes(), context.job().stop(),
					context.memory());
			this.opened = lending;
			read(lending, context, records);
		}
		finally {
			stopped.end();
			context.job().stop().remove(abort);
			if (this.spooled != null) {
				this.spooled.closeQuietly(this.body);
			}
		}
	}

	private void read(InputStream body, InputContext context, Consumer<RecordReader> records) {
		ByteLimit limit = context.inflatedLimit();
		try (InputStream inflated = this.encoding.decompress(body, limit, context.limit().memory())) {
			BodyDigest digest = this.digest;
			InputStream digested = (digest != null) ? digest.of(inflated) : inflated;
			RecordReader opened = RowItemReader.open(this.format, DecodedBody.of(digested, this.charset),
					context.operation(), context.mapping(), context.limit());
			this.reader = opened;
			records.accept(opened);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public List<Warning> warnings() {
		RecordReader reader = this.reader;
		List<Warning> warnings = new ArrayList<>((this.fetched != null) ? this.fetched.warnings() : List.of());
		if (reader != null) {
			warnings.addAll(JobInput.warnings(reader));
		}
		return warnings;
	}

	@Override
	public long leftOut() {
		RecordReader reader = this.reader;
		return (reader != null) ? reader.leftOut() : 0;
	}

	@Override
	public @Nullable Long limit() {
		return this.limit;
	}

	@Override
	public void addTo(Map<String, Object> report) {
		if (this.fetched != null) {
			this.fetched.addTo(report);
		}
		if (this.limit != null) {
			report.put("limit", this.limit);
		}
	}

	@Override
	public void close() {
		if (this.fetched != null) {
			this.fetched.closeQuietly();
		}
	}

	@Override
	public @Nullable Long declared() {
		return this.declared;
	}

	@Override
	public boolean isSmall() {
		return this.fetched == null && !this.encoding.isCompressed() && this.length >= 0 && this.length <= SMALL_BYTES;
	}

	@Override
	public double share() {
		LendingInputStream opened = this.opened;
		RecordReader reader = this.reader;
		if (this.length < 0) {
			return Double.NaN;
		}
		return (opened != null && reader != null) ? reader.consumed() * opened.bytesRead() / Math.max(1, this.length)
				: 0;
	}

	@Override
	public boolean isUploaded() {
		return this.fetched == null;
	}

	@Override
	public String noun() {
		return (this.encoding.isCompressed()) ? "inflated body" : "body";
	}

}
