package io.pipeset.record.mapping;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

import io.pipeset.record.ArgumentBytes;
import org.jspecify.annotations.Nullable;

/** How the text of a value stands for the bytes that Redis gets: {@code {name:hex}}. */
enum Form {

	/** <a href="https://www.rfc-editor.org/rfc/rfc4648#section-4">Base64</a>. */
	BASE64 {
		@Override
		boolean append(ArgumentBytes out, byte[] source, int offset, int length) {
			return out.appendBase64(source, offset, length);
		}
	},

	/** Two hexadecimal digits a byte, in upper or lower case. */
	HEX {
		@Override
		boolean append(ArgumentBytes out, byte[] source, int offset, int length) {
			return out.appendHex(source, offset, length);
		}
	};

	private final String label = name().toLowerCase(Locale.ROOT);

	/** The word for it after the colon. */
	String label() {
		return this.label;
	}

	/**
	 * Appends the bytes that a text stands for.
	 * @return {@code false} if the text does not have this form
	 */
	abstract boolean append(ArgumentBytes out, byte[] source, int offset, int length);

	/** The form of a label, or {@code null} if there is none of it. */
	static @Nullable Form find(String label) {
		return Arrays.stream(values()).filter((form) -> form.label.equals(label)).findFirst().orElse(null);
	}

	/** All labels, for messages. */
	static String labels() {
		return Arrays.stream(values()).map(Form::label).collect(Collectors.joining(", "));
	}

}
