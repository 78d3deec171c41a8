package io.pipeset;

import java.util.Map;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.Resource;
import org.springframework.core.type.classreading.CachingMetadataReaderFactory;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/**
 * Hands each context what the one before has read in class files: they do not change
 * while tests run, and a hundred contexts read the same ones. Spring finds this by
 * {@code META-INF/spring.factories}.
 */
class SharedClassMetadata implements ApplicationContextInitializer<GenericApplicationContext> {

	/** Under this name Spring Boot would give each context a factory of its own. */
	private static final String NAME = "org.springframework.boot.autoconfigure.internalCachingMetadataReaderFactory";

	private static volatile Map<Resource, MetadataReader> known = Map.of();

	@Override
	public void initialize(GenericApplicationContext context) {
		// The context forgets this map at the end of its start, and does not empty it.
		Map<Resource, MetadataReader> cache = context.getResourceCache(MetadataReader.class);
		cache.putAll(known);
		known = cache;
		context.registerBean(NAME, MetadataReaderFactory.class, () -> new CachingMetadataReaderFactory(context));
	}

}
