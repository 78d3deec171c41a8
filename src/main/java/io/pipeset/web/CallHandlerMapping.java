package io.pipeset.web;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Maps requests to the methods that have a {@link CallMapping}. */
@Component
class CallHandlerMapping implements WebMvcRegistrations {

	@Override
	public RequestMappingHandlerMapping getRequestMappingHandlerMapping() {
		return new RequestMappingHandlerMapping() {

			@Override
			protected @Nullable RequestMappingInfo getMappingForMethod(Method method, Class<?> handlerType) {
				CallMapping mapping = method.getAnnotation(CallMapping.class);
				return (mapping != null) ? RequestMappingInfo.paths(mapping.value().path())
					.methods(mapping.value().method())
					.options(getBuilderConfiguration())
					.build() : super.getMappingForMethod(method, handlerType);
			}

		};
	}

}
