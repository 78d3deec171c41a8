package io.pipeset.benchmark.process;

import java.util.List;
import java.util.Map;

/**
 * The way to start a Spring Boot service.
 *
 * @param name the name of its logs
 * @param jvm the JVM that runs it
 * @param program the jar or class, and its arguments
 * @param environment the variables to add to its environment
 */
public record Launch(String name, Jvm jvm, List<String> program, Map<String, String> environment) {

}
