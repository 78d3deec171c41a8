package io.pipeset.web.problem;

import java.util.List;

import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;

/**
 * Uses {@link ProblemAdvice} for the failures of all handlers. By default Spring uses it
 * for methods of controllers only.
 */
@Configuration(proxyBeanMethods = false)
class ProblemConfiguration implements WebMvcConfigurer {

	@Override
	public void extendHandlerExceptionResolvers(List<HandlerExceptionResolver> resolvers) {
		for (HandlerExceptionResolver resolver : resolvers) {
			if (resolver instanceof ExceptionHandlerExceptionResolver advices) {
				advices.setMappedHandlerPredicate((handler) -> true);
			}
		}
	}

}
