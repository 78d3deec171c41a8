/**
 * Reliable pops, which lose no value, and the limits of all pops. The receipts of
 * reliable pops are in Redis under {@code pipeset:}, so that every instance finds them,
 * also after a restart.
 */
@NullMarked
package io.pipeset.receipt;

import org.jspecify.annotations.NullMarked;
