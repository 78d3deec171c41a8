package io.pipeset.web.server;

import io.pipeset.job.memory.MemoryShare;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.stereotype.Component;

/**
 * Gives the memory of a report back when its answer is written, which takes as long as
 * the caller reads. The servlet container tells the end, and so that of an error page
 * too.
 */
@Component
public class AnswerMemory implements ServletRequestListener {

	private static final String MEMORY = AnswerMemory.class.getName() + ".memory";

	/** Keeps memory until the answer to a request is written. */
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
