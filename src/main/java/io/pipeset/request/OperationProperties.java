package io.pipeset.request;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The operations of records.
 *
 * @param any whether records may have any command that writes to keys in fixed places, as
 * the server describes it, beyond the operations of the table
 */
@ConfigurationProperties("pipeset.operations")
public record OperationProperties(@DefaultValue("true") boolean any) {

}
