package io.pipeset.web.server;

import io.pipeset.memory.MemoryShare;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.stereotype.Component;

/**
 * Releases the memory of a report when the response is written. The servlet container
 * reports the end of each request, also if the error controller answers it.
 */
@Component
public class AnswerMemory implements ServletRequestListener {

	private static final String MEMORY = AnswerMemory.class.getName() + ".memory";

	/** Keeps memory until the response to a request is written. */
	public static void closeWhenWritten(HttpServletRequest request, MemoryShare memory) {
		request.setAttribute(MEMORY, memory);
	}

	@Override
	public void requestDestroyed(ServletRequestEvent event) {
		if (event.getServletRequest().getAttribute(MEMORY) instanceof MemoryShare memory) {
			memory.close();
		}
	}

}
