package io.pipeset;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
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
		MetadataReaderFactory factory = new CachingMetadataReaderFactory(context);
		context.registerBean(NAME, MetadataReaderFactory.class, () -> factory);
		context.setResourceLoader(new AnnotatedClasses(context.getClassLoader(), factory));
	}

	/**
	 * Answers scans for classes, all of which look for an annotation, with the same
	 * classes each time: those that have any.
	 */
	private static final class AnnotatedClasses extends PathMatchingResourcePatternResolver {

		private static final Map<String, Resource[]> found = new ConcurrentHashMap<>();

		private final MetadataReaderFactory factory;

		private AnnotatedClasses(ClassLoader loader, MetadataReaderFactory factory) {
			super(loader);
			this.factory = factory;
		}

		@Override
		public Resource[] getResources(String pattern) throws IOException {
			if (!pattern.endsWith("/**/*.class")) {
				return super.getResources(pattern);
			}
			Resource[] annotated = found.get(pattern);
			if (annotated == null) {
				List<Resource> types = new ArrayList<>();
				for (Resource type : super.getResources(pattern)) {
					if (!this.factory.getMetadataReader(type).getAnnotationMetadata().getAnnotationTypes().isEmpty()) {
						types.add(type);
					}
				}
				annotated = types.toArray(Resource[]::new);
				found.put(pattern, annotated);
			}
			return annotated.clone();
		}

	}

}
