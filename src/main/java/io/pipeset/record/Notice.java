package io.pipeset.record;

/**
 * What a body gives reason to say to its sender, although its records are good.
 *
 * @param code the code of the warning
 * @param detail what was found and what to do, in sentences
 * @param count how often it was found; 0 if it is not counted
 * @param line the line of the first one; 0 for none
 */
public record Notice(String code, String detail, long count, long line) {

}
