package io.pipeset.web;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;

import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.ScriptRefusedException;
import io.pipeset.engine.script.Scripts;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.request.Client;
import io.pipeset.request.Client.Right;
import io.pipeset.request.JobLimits;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.web.bind.annotation.RestController;

/** The call that loads a Lua script, so that records can run it. */
@RestController
class ScriptsController {

	private static final int MOST_AT_ONCE = 8;

	private final Scripts scripts;

	private final Duration bodyTimeout;

	private final CallPermits permits = new CallPermits(MOST_AT_ONCE, "scripts");

	ScriptsController(Scripts scripts, JobLimits limits) {
		this.scripts = scripts;
		this.bodyTimeout = limits.bodyIdleTimeout();
	}

	@CallMapping(Call.LOAD_SCRIPT)
	LoadedScript load(HttpServletRequest request) throws IOException {
		for (String name : Query.of(request).rest()) {
			throw Problems.exception(Problem.UNKNOWN_SETTING, "There is no setting '" + Excerpt.of(name)
					+ "' here: this call has no settings, and its body is the text of the script");
		}
		Client client = CurrentClient.get();
		client.require(Right.SCRIPTS);
		String encoding = Uploads.encoding(request);
		if (!encoding.isEmpty() && !encoding.equalsIgnoreCase("identity")) {
			throw Problems.exception(Problem.UNSUPPORTED_CONTENT_ENCODING, "Content-Encoding '" + Excerpt.of(encoding)
					+ "' is not supported here; send the script without an encoding");
		}
		return this.permits.run(client, () -> load(read(request), request));
	}

	/**
	 * Reads the text, up to one byte more than it may have. The whole text has to arrive
	 * within the time that limits only the pauses of other bodies.
	 */
	private byte[] read(HttpServletRequest request) throws IOException {
		InputStream body = request.getInputStream();
		byte[] text = new byte[this.scripts.maxBytes() + 1];
		long began = System.nanoTime();
		int length = 0;
		int read = 0;
		while (read >= 0 && length < text.length) {
			length += read;
			if (System.nanoTime() - began > this.bodyTimeout.toNanos()) {
				throw Problems.exception(Problem.STALLED, "Only " + length + " bytes of the script arrived in "
						+ this.bodyTimeout.toMillis() + "ms (pipeset.limits.body-idle-timeout)");
			}
			read = body.read(text, length, text.length - length);
		}
		return Arrays.copyOf(text, length);
	}

	private LoadedScript load(byte[] text, HttpServletRequest request) {
		if (text.length > this.scripts.maxBytes()) {
			throw Problems.exception(Problem.TOO_LARGE, "The script has more bytes than the " + this.scripts.maxBytes()
					+ " that are allowed (pipeset.scripts.max-bytes)");
		}
		if (text.length == 0) {
			throw Problems.exception(Problem.INVALID_SCRIPT,
					"The body is empty; send the script's Lua: curl --data-binary @script.lua "
							+ request.getRequestURL());
		}
		return load(text);
	}

	private LoadedScript load(byte[] text) {
		try {
			return new LoadedScript(this.scripts.load(text));
		}
		catch (ScriptRefusedException ex) {
			throw (ex.isFaultOfScript())
					? Problems.exception(Problem.INVALID_SCRIPT, "Redis refuses the script: " + ex.getMessage())
					: Problems.exception(Problem.REDIS_REFUSES, "Redis does not load any script: " + ex.getMessage());
		}
		catch (NoConnectionException ex) {
			throw Problems.exception((ex.isRefusal()) ? Problem.REDIS_REFUSES : Problem.REDIS_UNREACHABLE,
					ex.advice("send the script again"));
		}
	}

	/** A script that Redis has loaded, with its name in EVALSHA. */
	record LoadedScript(String sha) {

	}

}
