package io.pipeset.web;

import java.util.Collections;
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
	 * Whether a type is asked for by its name, and no less than JSON is. A header that
	 * nobody can read asks for nothing.
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
		return quality > 0 && quality >= quality(accepted, MediaType.APPLICATION_JSON);
	}

	private static double quality(List<MediaType> accepted, MediaType named) {
		return accepted.stream()
			.filter((type) -> !type.isWildcardType() && type.includes(named))
			.mapToDouble(MediaType::getQualityValue)
			.max()
			.orElse(0);
	}

}
