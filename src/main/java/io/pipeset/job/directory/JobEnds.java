package io.pipeset.job.directory;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

import io.pipeset.job.spool.Spool;
import io.pipeset.job.spool.SpoolFile;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Component;

/**
 * Keeps the ends of asynchronous jobs on disk: the report, and then how the job stands.
 * They are there before anything of the job is removed, so that the next process knows
 * the end if this one is killed before others have heard of it.
 */
@Component
class JobEnds {

	static final String REPORT = ".report";

	private static final Logger logger = LoggerFactory.getLogger(JobEnds.class);

	private static final int BUFFER_BYTES = 64 << 10;

	private final Spool spool;

	private final JsonMapper mapper;

	JobEnds(Spool spool, JsonMapper mapper) {
		this.spool = spool;
		this.mapper = mapper;
	}

	/**
	 * Writes the end of a job.
	 * @param report the last report; {@code null} if there is none
	 * @return {@code null} if the spool is full, or its disk fails
	 */
	@Nullable JobEnd write(String client, JobStatus status, @Nullable Object report) {
		StoredReport stored = null;
		SpoolFile file = null;
		try {
			stored = (report != null) ? write(status.jobId(), report) : null;
			file = this.spool.create(status.jobId() + Spool.OF_END, null);
			try (OutputStream out = file.write()) {
				out.write(this.mapper.writeValueAsBytes(new Note(client, status)));
			}
			JobEnd end = new JobEnd(client, status, stored, file);
			file = null;
			stored = null;
			return end;
		}
		catch (IOException | JacksonException ex) {
			logger.atWarn()
				.addKeyValue("jobId", status.jobId())
				.log("The end of job {} is not kept on disk, and its report without its items and values: {}",
						status.jobId(), ex.getMessage());
			return null;
		}
		finally {
			if (file != null) {
				file.close();
			}
			if (stored != null) {
				stored.close();
			}
		}
	}

	private StoredReport write(String jobId, Object report) throws IOException {
		SpoolFile file = this.spool.create(jobId + REPORT, null);
		boolean written = false;
		try {
			try (OutputStream out = new BufferedOutputStream(file.write(), BUFFER_BYTES)) {
				this.mapper.writeValue(out, report);
			}
			JobReport records = (report instanceof JobReport known) ? known : null;
			StoredReport stored = new StoredReport(this.spool, file,
					(records != null) ? this.mapper.writeValueAsBytes(records.withoutLists()) : null);
			if (records != null && (records.values() == null || records.values().isEmpty())) {
				this.spool.mayRemove(stored);
			}
			written = true;
			return stored;
		}
		finally {
			if (!written) {
				file.close();
			}
		}
	}

	/**
	 * Reads the end of a job that another process has written.
	 * @param end the file that says so
	 * @param report the report; {@code null} if there is none
	 * @throws IOException if a file cannot be read, or is not whole
	 */
	JobEnd read(SpoolFile end, @Nullable SpoolFile report) throws IOException {
		try (InputStream in = end.open()) {
			Note note = this.mapper.readValue(in, Note.class);
			return new JobEnd(note.client(), note.status(), (report != null) ? read(report) : null, end);
		}
		catch (JacksonException ex) {
			throw new IOException("its end is not whole", ex);
		}
	}

	private StoredReport read(SpoolFile file) throws IOException {
		ByteArrayOutputStream shorter = new ByteArrayOutputStream();
		boolean records = false;
		boolean values = false;
		try (JsonParser from = this.mapper.createParser(file.open());
				JsonGenerator to = this.mapper.createGenerator(shorter)) {
			from.nextToken();
			to.writeStartObject();
			long left = 0;
			while (from.nextToken() == JsonToken.PROPERTY_NAME) {
				String name = from.currentName();
				from.nextToken();
				if (name.equals("values")) {
					values = skip(from) > 0;
				}
				else if (name.equals("items")) {
					left = skip(from);
					to.writeArrayPropertyStart(name);
					to.writeEndArray();
				}
				else if (name.equals("itemsOmitted")) {
					to.writeNumberProperty(name, from.getLongValue() + left);
					records = true;
				}
				else {
					to.writeName(name);
					to.copyCurrentStructure(from);
				}
			}
			to.writeEndObject();
		}
		StoredReport stored = new StoredReport(this.spool, file, (records) ? shorter.toByteArray() : null);
		if (records && !values) {
			this.spool.mayRemove(stored);
		}
		return stored;
	}

	/** Passes over the elements of a list, and counts them. */
	private static long skip(JsonParser list) {
		long elements = 0;
		while (list.nextToken() != JsonToken.END_ARRAY) {
			list.skipChildren();
			elements++;
		}
		return elements;
	}

	/** How a job stands, and whose it is. */
	private record Note(String client, JobStatus status) {

	}

	/**
	 * The end of a job on disk.
	 *
	 * @param report {@code null} if there is none
	 * @param file what stands in it is this but for the report; removed last
	 */
	record JobEnd(String client, JobStatus status, @Nullable StoredReport report, SpoolFile file) {

		/** Removes it. */
		void close() {
			if (this.report != null) {
				this.report.close();
			}
			this.file.close();
		}

	}

}
