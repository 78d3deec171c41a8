package io.pipeset.engine.slab.lookup;

import java.util.EnumMap;
import java.util.Map;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The commands that look at keys of one page, and ahead of them the SCAN for the next
 * page, so that Redis has the next keys under way while it answers for these.
 */
public final class KeyLookup extends Lookup {

	private static final byte[] TYPE = KeyWriter.head(2, "TYPE");

	private static final byte[] PTTL = KeyWriter.head(2, "PTTL");

	private static final byte[] END = KeyWriter.tail();

	private static final byte[] MEMORY_USAGE = KeyWriter.head(5, "MEMORY", "USAGE");

	private final KeyTypes types;

	private @Nullable Scan scan;

	private String cursor = Scan.START;

	private @Nullable KeyPage next;

	private Runnable whenScanned = () -> {
	};

	private @Nullable KeyPage page;

	private int from;

	private int to;

	/** The samples of MEMORY USAGE, 0 where it is not asked. */
	private int samples;

	private final Map<Question, String> errors = new EnumMap<>(Question.class);

	/**
	 * How far SCAN's reply has come: its array, the cursor, the inner array, the keys.
	 */
	private int scanSteps;

	private long keysLeft;

	private final StringBuilder cursorRead = new StringBuilder();

	private Question question = Question.TYPE;

	private int key;

	public KeyLookup(KeyTypes types) {
		this.types = types;
	}

	/**
	 * Asks for a page of keys.
	 * @param next takes the keys; nobody else may use it before {@code whenScanned}
	 * @param whenScanned is run when all keys have come, which is before the lookup is
	 * done, by the thread of the connection
	 */
	public KeyLookup scan(Scan scan, String cursor, KeyPage next, Runnable whenScanned) {
		this.scan = scan;
		this.cursor = cursor;
		this.next = next;
		this.whenScanned = whenScanned;
		return this;
	}

	/**
	 * Asks for the type of some keys of a page, the time that they have left and the
	 * memory that they take.
	 * @param page the page, which takes the answers
	 * @param to behind the last key
	 * @param samples the elements of a key that Redis measures; 0 to ask for no memory
	 */
	public KeyLookup keys(KeyPage page, int from, int to, int samples) {
		this.page = page;
		this.from = from;
		this.to = to;
		this.samples = samples;
		this.key = from;
		return this;
	}

	/**
	 * The page whose keys are looked at.
	 * @return {@code null} where the lookup only asks for the next page
	 */
	public @Nullable KeyPage page() {
		return this.page;
	}

	/**
	 * The errors that Redis answered.
	 * @return the first error to each question; empty for nearly all lookups
	 */
	public Map<Question, String> errors() {
		return this.errors;
	}

	@Override
	public void writeTo(ByteBuf out) {
		if (this.scan != null) {
			this.scan.writeTo(out, this.cursor);
		}
		if (this.page != null) {
			KeyWriter writer = new KeyWriter(out, this.page);
			byte[] tail = KeyWriter.tail("SAMPLES", String.valueOf(this.samples));
			for (int i = this.from; i < this.to; i++) {
				writer.key(i);
				writer.write(TYPE, END);
				if (this.samples > 0) {
					writer.write(MEMORY_USAGE, tail);
				}
				writer.write(PTTL, END);
			}
		}
	}

	@Override
	int replies() {
		return ((this.scan != null) ? 1 : 0) + (this.to - this.from) * ((this.samples > 0) ? 3 : 2);
	}

	private boolean isScanning() {
		return this.scan != null && this.scanSteps < 4;
	}

	private KeyPage scanned() {
		if (this.next == null || this.scanSteps == 0) {
			throw doesNotFit("an array or a string");
		}
		return this.next;
	}

	private KeyPage looked(boolean fits, String what) {
		if (isScanning() || !fits || this.page == null) {
			throw doesNotFit(what);
		}
		return this.page;
	}

	@Override
	void array(long elements) {
		if (!isScanning() || (this.scanSteps != 0 && this.scanSteps != 2) || (this.scanSteps == 0 && elements != 2)) {
			throw doesNotFit("an array");
		}
		this.scanSteps++;
		if (this.scanSteps == 3) {
			this.keysLeft = elements;
			endPageIfWhole();
		}
	}

	@Override
	void bulk(ByteBuf in, int length) {
		if (isScanning() && this.scanSteps == 3) {
			scanned().append(in, length);
		}
		else if (isScanning() && this.scanSteps == 1 && this.cursorRead.length() + length <= 20) {
			for (int i = 0; i < length; i++) {
				this.cursorRead.append((char) in.readByte());
			}
		}
		else {
			throw doesNotFit("a string");
		}
	}

	@Override
	void bulkEnds() {
		if (isScanning() && this.scanSteps == 1) {
			scanned().cursor(this.cursorRead.toString());
			this.scanSteps++;
		}
		else if (isScanning() && this.scanSteps == 3) {
			scanned().endKey();
			this.keysLeft--;
			endPageIfWhole();
		}
		else {
			throw doesNotFit("a string");
		}
	}

	private void endPageIfWhole() {
		if (this.keysLeft == 0) {
			this.scanSteps = 4;
			this.whenScanned.run();
		}
	}

	@Override
	void text(byte[] line, int from, int to) {
		looked(this.question == Question.TYPE, "a simple string").type(this.key, this.types.number(line, from, to));
		answered();
	}

	@Override
	void number(long number) {
		KeyPage page = looked(this.question != Question.TYPE, "a number");
		if (this.question == Question.MEMORY_USAGE) {
			page.size(this.key, number);
		}
		else {
			page.ttl(this.key, number);
		}
		answered();
	}

	@Override
	void nil() {
		looked(this.question == Question.MEMORY_USAGE, "a nil").size(this.key, KeyPage.UNKNOWN);
		answered();
	}

	@Override
	void error(String message) {
		if (!isScanning()) {
			this.errors.putIfAbsent(this.question, message);
			answered();
		}
		else if (this.scanSteps == 0) {
			this.errors.put(Question.SCAN, message);
			this.scanSteps = 4;
		}
		else {
			throw doesNotFit("an error");
		}
	}

	private void answered() {
		switch (this.question) {
			case TYPE -> this.question = (this.samples > 0) ? Question.MEMORY_USAGE : Question.PTTL;
			case MEMORY_USAGE -> this.question = Question.PTTL;
			case PTTL, SCAN -> {
				this.question = Question.TYPE;
				this.key++;
			}
		}
	}

}
