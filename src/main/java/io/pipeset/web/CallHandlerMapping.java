package io.pipeset.web;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Lets Spring take methods and paths from the table of calls. */
@Component
class CallHandlerMapping implements WebMvcRegistrations {

	@Override
	public RequestMappingHandlerMapping getRequestMappingHandlerMapping() {
		return new RequestMappingHandlerMapping() {

			@Override
			protected @Nullable RequestMappingInfo getMappingForMethod(Method method, Class<?> handlerType) {
				CallMapping serves = method.getAnnotation(CallMapping.class);
				return (serves != null) ? RequestMappingInfo.paths(serves.value().path())
					.methods(serves.value().method())
					.options(getBuilderConfiguration())
					.build() : super.getMappingForMethod(method, handlerType);
			}

		};
	}

}
