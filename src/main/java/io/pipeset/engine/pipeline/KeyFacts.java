package io.pipeset.engine.pipeline;

/**
 * The facts about a key.
 *
 * @param name the key
 * @param type the name that TYPE returns
 * @param bytes the result of MEMORY USAGE; 0 if it was omitted or refused
 * @param ttlMillis the time to live; -1 for no expiry
 */
@SuppressWarnings("ArrayRecordComponent") // no code compares whole records
public record KeyFacts(byte[] name, String type, long bytes, long ttlMillis) {

}
