"""What others read: JSON, JUnit, HTML, GitHub."""
