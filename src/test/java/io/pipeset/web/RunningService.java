package io.pipeset.web;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

import org.springframework.core.env.Environment;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/** Hands tests a client of the service that runs for them. */
class RunningService implements ParameterResolver {

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getParameter().getType() == Service.class;
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		Environment environment = SpringExtension.getApplicationContext(context).getEnvironment();
		return new Service(environment.getRequiredProperty("local.server.port", Integer.class));
	}

}
