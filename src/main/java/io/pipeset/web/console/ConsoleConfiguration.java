package io.pipeset.web.console;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.CacheControl;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.ResourceHandlerRegistry;
import org.springframework.web.servlet.config.annotation.ViewControllerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.resource.ContentVersionStrategy;

/**
 * Serves the files of the console at {@code /console/}. They are not in {@code static},
 * because Boot would serve them from there even if the console is disabled.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ConsoleProperties.class)
class ConsoleConfiguration implements WebMvcConfigurer {

	/**
	 * Forbids content of other hosts, inline scripts and styles, and scripts that make
	 * markup of text.
	 */
	private static final String POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none';"
			+ " frame-ancestors 'none'; require-trusted-types-for 'script'";

	private final ConsoleProperties properties;

	ConsoleConfiguration(ConsoleProperties properties) {
		this.properties = properties;
	}

	@Override
	public void addViewControllers(ViewControllerRegistry registry) {
		if (this.properties.enabled()) {
			// The page needs the slash, because its links are relative to this path.
			registry.addRedirectViewController("/console", "/console/");
			registry.addViewController("/console/").setViewName("forward:/console/index.html");
		}
	}

	@Override
	public void addResourceHandlers(ResourceHandlerRegistry registry) {
		if (this.properties.enabled()) {
			ContentVersionStrategy versions = new ContentVersionStrategy();
			// A browser revalidates a file at each request. The ETag is a hash of the
			// file, because all files of a jar have the same date.
			registry.addResourceHandler("/console/**")
				.addResourceLocations("classpath:/console/")
				.setCacheControl(CacheControl.noCache())
				.setUseLastModified(false)
				// The ETag is weak, because gzip changes the bytes.
				.setEtagGenerator((file) -> "W/\"" + versions.getResourceVersion(file) + "\"");
		}
	}

	@Override
	public void addInterceptors(InterceptorRegistry registry) {
		registry.addInterceptor(new HandlerInterceptor() {

			@Override
			public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
				response.setHeader("Content-Security-Policy", POLICY);
				response.setHeader("Referrer-Policy", "no-referrer");
				return true;
			}

		}).addPathPatterns("/console/**");
	}

}
