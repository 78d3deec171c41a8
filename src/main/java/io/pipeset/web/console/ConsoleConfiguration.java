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
 * CallMapping the files of the console at {@code /console/}. They lie beside
 * {@code static}, so that Boot does not serve them where the console is off.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ConsoleProperties.class)
class ConsoleConfiguration implements WebMvcConfigurer {

	/** Nothing from other hosts, nothing in line, and no text that becomes markup. */
	private static final String POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none';"
			+ " frame-ancestors 'none'; require-trusted-types-for 'script'";

	private final ConsoleProperties properties;

	ConsoleConfiguration(ConsoleProperties properties) {
		this.properties = properties;
	}

	@Override
	public void addViewControllers(ViewControllerRegistry registry) {
		if (this.properties.enabled()) {
			// Its files are named relative to the path, whatever stands before it.
			registry.addRedirectViewController("/console", "/console/");
			registry.addViewController("/console/").setViewName("forward:/console/index.html");
		}
	}

	@Override
	public void addResourceHandlers(ResourceHandlerRegistry registry) {
		if (this.properties.enabled()) {
			ContentVersionStrategy versions = new ContentVersionStrategy();
			// A browser asks each time, and is told whether the file is another one: by
			// its bytes, as all files of a jar are of the same day.
			registry.addResourceHandler("/console/**")
				.addResourceLocations("classpath:/console/")
				.setCacheControl(CacheControl.noCache())
				.setUseLastModified(false)
				// Weak, as gzip changes the bytes.
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
