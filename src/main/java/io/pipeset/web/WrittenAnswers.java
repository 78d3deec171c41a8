package io.pipeset.web;

import io.pipeset.memory.MemoryShare;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.stereotype.Component;

/**
 * Gives the memory of a report back when it is written, be it by the error page of the
 * servlet container: a caller may read slowly.
 */
@Component
class WrittenAnswers implements ServletRequestListener {

	private static final String MEMORY = WrittenAnswers.class.getName() + ".memory";

	static void closeWhenWritten(HttpServletRequest request, MemoryShare memory) {
		request.setAttribute(MEMORY, memory);
	}

	@Override
	public void requestDestroyed(ServletRequestEvent event) {
		if (event.getServletRequest().getAttribute(MEMORY) instanceof MemoryShare memory) {
			memory.close();
		}
	}

}
