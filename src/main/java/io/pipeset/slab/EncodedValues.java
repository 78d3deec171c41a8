package io.pipeset.slab;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.report.PoppedValues;

/**
 * Shows popped values by the encoding of their records.
 *
 * @param encoding the encoding of the records
 */
record EncodedValues(Encoding encoding) implements PoppedValues.Display {

	@Override
	public Object show(byte[] bytes, int from, int to) {
		return this.encoding.show(bytes, from, to);
	}

	@Override
	public boolean isPlain() {
		return this.encoding == Encoding.UTF8;
	}

}
