package io.pipeset.benchmark.process;

import java.util.List;
import java.util.Map;

/**
 * How a Spring Boot service is started.
 *
 * @param name of its logs
 * @param jvm what runs it
 * @param program the jar or class, and its arguments
 * @param environment what to add to its environment
 */
public record Launch(String name, Jvm jvm, List<String> program, Map<String, String> environment) {

}
