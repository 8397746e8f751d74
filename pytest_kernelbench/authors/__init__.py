"""Language models as authors: what they are asked, what they answer, and how they mend it."""
