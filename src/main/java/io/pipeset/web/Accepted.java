package io.pipeset.web;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;

import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/**
 * Looks at the header {@code Accept} for answers that are JSON unless something else is
 * asked for.
 */
public final class Accepted {

	private Accepted() {
	}

	/**
	 * Whether a type is asked for, by its name or as one of {@code text/*}, and no less
	 * than JSON is: that is no {@code text/*}. Whoever takes everything gets JSON, and a
	 * header that nobody can read asks for nothing.
	 */
	public static boolean is(MediaType named, HttpServletRequest request) {
		List<MediaType> accepted;
		try {
			accepted = MediaType.parseMediaTypes(Collections.list(request.getHeaders(HttpHeaders.ACCEPT)));
		}
		catch (InvalidMediaTypeException ex) {
			return false;
		}
		double quality = quality(accepted, named);
		return quality > 0 && quality >= quality(accepted, MediaType.APPLICATION_JSON)
				&& accepted.stream().anyMatch((range) -> !range.isWildcardType() && range.includes(named));
	}

	/** The quality of the range that says most of a type. */
	private static double quality(List<MediaType> accepted, MediaType type) {
		return accepted.stream()
			.filter((range) -> range.includes(type))
			.min(Comparator.comparing(MediaType::isWildcardType).thenComparing(MediaType::isWildcardSubtype))
			.map(MediaType::getQualityValue)
			.orElse(0.0);
	}

}
