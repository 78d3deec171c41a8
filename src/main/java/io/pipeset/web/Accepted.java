package io.pipeset.web;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;

import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/**
 * Reads the header {@code Accept} for calls that answer with JSON unless the caller
 * prefers another type.
 */
public final class Accepted {

	private Accepted() {
	}

	/**
	 * Whether the header names a type, or its wildcard such as {@code text/*}, with at
	 * least the quality of JSON. The full wildcard alone does not name a type.
	 * @return {@code false} also if the header is malformed
	 */
	public static boolean isPreferred(MediaType type, HttpServletRequest request) {
		List<MediaType> accepted;
		try {
			accepted = MediaType.parseMediaTypes(Collections.list(request.getHeaders(HttpHeaders.ACCEPT)));
		}
		catch (InvalidMediaTypeException ex) {
			return false;
		}
		double quality = quality(accepted, type);
		return quality > 0 && quality >= quality(accepted, MediaType.APPLICATION_JSON)
				&& accepted.stream().anyMatch((range) -> !range.isWildcardType() && range.includes(type));
	}

	/** The quality of the most specific range that includes a type; 0 if none does. */
	private static double quality(List<MediaType> accepted, MediaType type) {
		return accepted.stream()
			.filter((range) -> range.includes(type))
			.min(Comparator.comparing(MediaType::isWildcardType).thenComparing(MediaType::isWildcardSubtype))
			.map(MediaType::getQualityValue)
			.orElse(0.0);
	}

}
