package io.pipeset.redis;

import java.lang.reflect.Modifier;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.util.ReflectionUtils;

/**
 * Points the service of a test class at the servers that the class has as a static field,
 * such as an {@link OwnRedis} or a {@link TestCluster}. Spring finds this by
 * {@code META-INF/spring.factories}.
 */
final class FieldCustomizers implements ContextCustomizerFactory {

	/** Two contexts are equal only if they have the same servers. */
	@Override
	public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> attributes) {
		ContextCustomizer[] found = new ContextCustomizer[1];
		ReflectionUtils.doWithLocalFields(testClass, (field) -> {
			if (Modifier.isStatic(field.getModifiers()) && ContextCustomizer.class.isAssignableFrom(field.getType())) {
				ReflectionUtils.makeAccessible(field);
				found[0] = (ContextCustomizer) ReflectionUtils.getField(field, null);
			}
		});
		return found[0];
	}

}
