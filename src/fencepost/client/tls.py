"""An SSL context out of Kafka's `ssl.*` settings. Stores are PEM; Java's own formats are refused by name."""

import ssl

from fencepost.client.settings import ClientSettings
from fencepost.settings import InvalidSetting

JAVA_STORES = (".jks", ".p12", ".pfx", ".keystore", ".truststore")


def ssl_context(settings: ClientSettings) -> ssl.SSLContext | None:
    """None where the security protocol has no TLS."""
    if not settings.security_protocol.endswith("SSL"):
        return None
    for location in (settings.ssl_truststore_location, settings.ssl_keystore_location):
        if location.lower().endswith(JAVA_STORES):
            raise InvalidSetting(f"{location} is a Java store: expected a PEM file")
    try:
        context = ssl.create_default_context(
            cafile=settings.ssl_truststore_location or None, cadata=settings.ssl_truststore_certificates or None
        )
        if settings.ssl_keystore_location:
            context.load_cert_chain(settings.ssl_keystore_location, password=settings.ssl_key_password or None)
    except (OSError, ssl.SSLError) as problem:
        raise InvalidSetting(f"the ssl.* settings cannot be used: {problem}") from problem
    context.check_hostname = settings.ssl_endpoint_identification_algorithm == "https"
    return context
