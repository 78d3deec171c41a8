package io.pipeset.web;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Lets Spring take methods and paths from the table of calls. */
@Component
class CallMapping implements WebMvcRegistrations {

	@Override
	public RequestMappingHandlerMapping getRequestMappingHandlerMapping() {
		return new RequestMappingHandlerMapping() {

			@Override
			protected @Nullable RequestMappingInfo getMappingForMethod(Method method, Class<?> handlerType) {
				Serves serves = method.getAnnotation(Serves.class);
				return (serves != null) ? RequestMappingInfo.paths(serves.value().path())
					.methods(serves.value().method())
					.options(getBuilderConfiguration())
					.build() : super.getMappingForMethod(method, handlerType);
			}

		};
	}

}
