package io.pipeset.engine.slab.lookup;

import java.util.EnumMap;
import java.util.Map;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The commands that read the facts about keys of one page, and before them the SCAN for
 * the next page. The next keys thus arrive before the replies about this page.
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

	private int samples;

	private final Map<Question, String> errors = new EnumMap<>(Question.class);

	/**
	 * Parts of SCAN's reply read so far: the array, the cursor, the inner array, all
	 * keys.
	 */
	private int scanParts;

	private long keysLeft;

	private final StringBuilder cursorRead = new StringBuilder();

	private Question question = Question.TYPE;

	private int key;

	public KeyLookup(KeyTypes types) {
		this.types = types;
	}

	/**
	 * Adds a SCAN for the next page of keys.
	 * @param next receives the keys; the caller must not use it before {@code
	 * whenScanned}
	 * @param whenScanned runs on the connection's thread when all keys have arrived,
	 * before the lookup is done
	 */
	public KeyLookup scan(Scan scan, String cursor, KeyPage next, Runnable whenScanned) {
		this.scan = scan;
		this.cursor = cursor;
		this.next = next;
		this.whenScanned = whenScanned;
		return this;
	}

	/**
	 * Adds the commands for the type, the time to live and the memory of some keys.
	 * @param page the page with the keys, which receives the replies
	 * @param from the number of the first key
	 * @param to the number after the last key
	 * @param samples the elements of a key that Redis measures; 0 to leave MEMORY USAGE
	 * out
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
	 * The page of the keys to read.
	 * @return {@code null} if the lookup only scans the next page
	 */
	public @Nullable KeyPage page() {
		return this.page;
	}

	/**
	 * The errors that Redis answered.
	 * @return the first error to each question; mostly empty
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
		return this.scan != null && this.scanParts < 4;
	}

	private KeyPage scannedPage() {
		if (this.next == null || this.scanParts == 0) {
			throw unexpected("an array or a string");
		}
		return this.next;
	}

	private KeyPage pageFor(boolean fits, String what) {
		if (isScanning() || !fits || this.page == null) {
			throw unexpected(what);
		}
		return this.page;
	}

	@Override
	void array(long elements) {
		if (!isScanning() || (this.scanParts != 0 && this.scanParts != 2) || (this.scanParts == 0 && elements != 2)) {
			throw unexpected("an array");
		}
		this.scanParts++;
		if (this.scanParts == 3) {
			this.keysLeft = elements;
			endPageIfWhole();
		}
	}

	@Override
	void bulk(ByteBuf in, int length) {
		if (isScanning() && this.scanParts == 3) {
			scannedPage().append(in, length);
		}
		else if (isScanning() && this.scanParts == 1 && this.cursorRead.length() + length <= 20) {
			for (int i = 0; i < length; i++) {
				this.cursorRead.append((char) in.readByte());
			}
		}
		else {
			throw unexpected("a string");
		}
	}

	@Override
	void endBulk() {
		if (isScanning() && this.scanParts == 1) {
			scannedPage().cursor(this.cursorRead.toString());
			this.scanParts++;
		}
		else if (isScanning() && this.scanParts == 3) {
			scannedPage().endKey();
			this.keysLeft--;
			endPageIfWhole();
		}
		else {
			throw unexpected("a string");
		}
	}

	private void endPageIfWhole() {
		if (this.keysLeft == 0) {
			this.scanParts = 4;
			this.whenScanned.run();
		}
	}

	@Override
	void text(byte[] line, int from, int to) {
		pageFor(this.question == Question.TYPE, "a simple string").type(this.key, this.types.number(line, from, to));
		nextQuestion();
	}

	@Override
	void number(long number) {
		KeyPage page = pageFor(this.question != Question.TYPE, "a number");
		if (this.question == Question.MEMORY_USAGE) {
			page.size(this.key, number);
		}
		else {
			page.ttl(this.key, number);
		}
		nextQuestion();
	}

	@Override
	void nil() {
		pageFor(this.question == Question.MEMORY_USAGE, "a nil").size(this.key, KeyPage.UNKNOWN);
		nextQuestion();
	}

	@Override
	void error(String message) {
		if (!isScanning()) {
			this.errors.putIfAbsent(this.question, message);
			nextQuestion();
		}
		else if (this.scanParts == 0) {
			this.errors.put(Question.SCAN, message);
			this.scanParts = 4;
		}
		else {
			throw unexpected("an error");
		}
	}

	private void nextQuestion() {
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
