package io.pipeset.input;

import java.io.InputStream;

import org.jspecify.annotations.Nullable;

/** The body of a job that can be read again from its first byte, by any thread. */
public interface StoredBytes extends AutoCloseable {

	/**
	 * Opens the body for reading. Nothing is read yet.
	 * @return a new stream, which throws an exception if the body does not exist any more
	 */
	InputStream open();

	/**
	 * The length of the body.
	 * @return bytes; -1 if unknown
	 */
	long bytes();

	/** The client whose share of the spool it takes; {@code null} for none. */
	@Nullable String client();

	/** Removes the body, if the service has stored it. */
	@Override
	void close();

}
