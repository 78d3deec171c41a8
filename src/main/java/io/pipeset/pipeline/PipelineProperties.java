package io.pipeset.pipeline;

import java.time.Duration;

import org.hibernate.validator.constraints.Range;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * The connections that jobs run on, and how much may be on its way on each.
 *
 * @param maxConnections the connections that all jobs together may hold at once, 1 to
 * 1,000
 * @param windowCommands the commands that a lane may have unanswered, 1 to 10,000,000;
 * two writes are always allowed
 * @param windowBytes the bytes of commands that a lane may have unanswered; two writes
 * are always allowed
 * @param connectTimeout the longest that opening a connection may take, and its
 * handshake, and a wait for the pool, 1 millisecond to 1 hour;
 * {@code spring.data.redis.connect-timeout} and {@code spring.data.redis.timeout} win
 * where they are set
 */
@Validated
@ConfigurationProperties("pipeset.pipeline")
public record PipelineProperties(@DefaultValue("16") @Range(min = 1, max = 1_000) int maxConnections,
		@DefaultValue("8000") @Range(min = 1, max = 10_000_000) int windowCommands,
		@DefaultValue("2MB") DataSize windowBytes,
		@DefaultValue("2s") @DurationMin(millis = 1) @DurationMax(hours = 1) Duration connectTimeout) {

}
