package io.pipeset.service;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.ContextConfiguration;

/**
 * Runs the whole service on a port of its own, against the shared Redis unless the test
 * names another, and hands the test's constructor a {@link Service} to call it. Classes
 * that ask for the same properties share one running service.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ContextConfiguration(initializers = SharedRedis.class)
@ExtendWith(RunningService.class)
public @interface ServiceTest {

	/** The property of the key with which the {@link Service} calls, if it has one. */
	String KEY = "test.key";

	@AliasFor(annotation = SpringBootTest.class, attribute = "properties")
	String[] properties() default {};

}
