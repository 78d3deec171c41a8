package io.pipeset.record.encoding;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/** Finds the name that a caller probably meant, for the message about an unknown name. */
public final class NearestName {

	/** More characters than any known name has. */
	private static final int MAX_CHARACTERS = 64;

	private NearestName() {
	}

	/**
	 * Finds the nearest name, ignoring case: one with the same beginning, or with few
	 * different characters.
	 * @return the known name, or {@code null} if none is near
	 */
	public static @Nullable String of(String name, Iterable<String> known) {
		String wanted = name.toUpperCase(Locale.ROOT);
		if (wanted.length() < 2 || wanted.length() > MAX_CHARACTERS) {
			return null;
		}
		int limit = Math.max(1, wanted.length() / 3);
		String nearest = null;
		int best = Integer.MAX_VALUE;
		int[] row = new int[MAX_CHARACTERS + 1];
		for (String candidate : known) {
			String other = candidate.toUpperCase(Locale.ROOT);
			int lengthDifference = Math.abs(other.length() - wanted.length());
			int distance = (wanted.length() > 2 && other.startsWith(wanted)) ? 1
					: (lengthDifference > limit) ? Integer.MAX_VALUE : distance(other, wanted, row);
			// Prefer the name whose length is nearest.
			int score = (distance > limit) ? Integer.MAX_VALUE : distance * 2 * MAX_CHARACTERS + lengthDifference;
			if (score < best) {
				best = score;
				nearest = candidate;
			}
		}
		return nearest;
	}

	/** The edit distance: the number of characters to change, add or remove. */
	private static int distance(String one, String other, int[] row) {
		for (int j = 0; j <= other.length(); j++) {
			row[j] = j;
		}
		for (int i = 1; i <= one.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int changed = diagonal + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
				diagonal = row[j];
				row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
			}
		}
		return row[other.length()];
	}

}
