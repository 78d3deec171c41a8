package io.pipeset.keep;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * A connection on which records were sent.
 *
 * @param node the service's name for the server
 * @param clientId the CLIENT ID of the connection; {@code null} if the user may not query
 * it
 * @param runId the run id of the server's process; {@code null} if it is not known
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record JournalConnection(String node, @Nullable Long clientId, @Nullable String runId) {

}
