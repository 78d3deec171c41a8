package io.pipeset.redis;

import java.lang.reflect.Modifier;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.util.ReflectionUtils;

/**
 * Points the service of a test class at the {@link OwnRedis} that the class has as a
 * static field. Spring finds this by {@code META-INF/spring.factories}.
 */
final class OwnRedisCustomizer implements ContextCustomizerFactory {

	@Override
	public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> attributes) {
		ContextCustomizer[] found = new ContextCustomizer[1];
		ReflectionUtils.doWithLocalFields(testClass, (field) -> {
			if (Modifier.isStatic(field.getModifiers()) && field.getType() == OwnRedis.class) {
				ReflectionUtils.makeAccessible(field);
				found[0] = new Properties((OwnRedis) ReflectionUtils.getField(field, null));
			}
		});
		return found[0];
	}

	/** Two contexts are equal only if they have the same server. */
	private record Properties(OwnRedis redis) implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
			TestPropertyValues.of(this.redis.properties()).applyTo(context);
			if (this.redis.isBehindProxy()) {
				context.addApplicationListener((ApplicationReadyEvent ready) -> FirstSweep.awaitEnd(context));
			}
		}

	}

}
