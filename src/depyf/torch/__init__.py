"""All that touches torch. Nobody else imports it."""
