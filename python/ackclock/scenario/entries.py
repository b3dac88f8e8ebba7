"""Base class and fields of the tables of a scenario, with their descriptions."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field


class Table(BaseModel):
    """A table of the TOML file: nothing but the known fields, each of the right type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def gives(self, name: str) -> bool:
        """Return whether the user gave the field."""
        return name in self.model_fields_set

    def override(self, other: Self) -> Self:
        """Replace the fields that another table of the kind gives."""
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})


def entry(text: str, default: object = ..., *, toml: object = None, words: str = "") -> Any:
    """Describe a field; its default as TOML, or in words, where that is not the value itself."""
    extra: dict[str, Any] = {"default": default if toml is None else toml, "words": words}
    return Field(default=default, description=text, json_schema_extra=None if default is ... else extra)
