package io.pipeset.service;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * A class of tests that start the service in processes of their own, which takes half of
 * the time of all tests: they run in {@code mvn -Pprocesses verify}, in CI, and if they
 * are named.
 */
@Tag("processes")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface ProcessTest {

}
