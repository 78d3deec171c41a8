package io.pipeset.job.journal;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * A connection that records were sent on.
 *
 * @param node the server as the service names it
 * @param clientId its number there; {@code null} where the user may not ask for it
 * @param runId the life of the server; {@code null} where it is not known
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record JournalConnection(String node, @Nullable Long clientId, @Nullable String runId) {

}
