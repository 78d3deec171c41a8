package io.pipeset.web;

import java.io.IOException;
import java.util.Map;

import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.ScriptRefusedException;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.script.Scripts;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The call that loads a script, which records can run then. */
@RestController
class ScriptsController {

	private final Scripts scripts;

	ScriptsController(Scripts scripts) {
		this.scripts = scripts;
	}

	@PostMapping("/v1/scripts")
	Map<String, String> load(HttpServletRequest request) throws IOException {
		for (String name : Query.of(request).rest()) {
			throw Problems.badRequest("unknown-setting",
					"There is no setting '" + Excerpt.of(name) + "' here: a script has none, and its text is the body");
		}
		if (!this.scripts.areAllowed()) {
			throw Problems.exception(HttpStatus.FORBIDDEN, "forbidden", Scripts.FORBIDDEN);
		}
		String encoding = Uploads.encoding(request);
		if (!encoding.isEmpty() && !encoding.equalsIgnoreCase("identity")) {
			throw Problems.exception(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-content-encoding",
					"Content-Encoding '" + Excerpt.of(encoding) + "' is not read here; send the script as it is");
		}
		byte[] text = request.getInputStream().readNBytes(this.scripts.maxBytes() + 1);
		if (text.length > this.scripts.maxBytes()) {
			throw Problems.exception(HttpStatus.CONTENT_TOO_LARGE, "limit", "A script may have "
					+ this.scripts.maxBytes() + " bytes (pipeset.scripts.max-bytes), and this one has more");
		}
		if (text.length == 0) {
			throw Problems.badRequest("invalid-script",
					"The body is empty; send the script's Lua: curl --data-binary @script.lua "
							+ request.getRequestURL());
		}
		return load(text);
	}

	private Map<String, String> load(byte[] text) {
		try {
			return Map.of("sha", this.scripts.load(text));
		}
		catch (ScriptRefusedException ex) {
			throw (ex.isFaultOfScript())
					? Problems.badRequest("invalid-script", "Redis refuses the script: " + ex.getMessage())
					: unavailable("redis-refuses", "Redis loads no script: " + ex.getMessage());
		}
		catch (NoConnectionException ex) {
			throw unavailable((ex.isRefusal()) ? "redis-refuses" : "redis-unreachable",
					ex.advice("send the script again"));
		}
	}

	private static ErrorResponseException unavailable(String type, String detail) {
		ErrorResponseException problem = Problems.exception(HttpStatus.SERVICE_UNAVAILABLE, type, detail);
		problem.getHeaders().set(HttpHeaders.RETRY_AFTER, Problems.RETRY_AFTER_SECONDS);
		return problem;
	}

}
