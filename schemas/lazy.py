"""A property that is computed once, when it is first asked for."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_Value = TypeVar("_Value")


class lazy(Generic[_Value]):  # noqa: N801  # it is used as `property` is
    """functools.cached_property without its lock, which costs Python 3.11 more than most of what is computed here.

    Objects that have such properties belong to one thread.
    """

    def __init__(self, compute: Callable[[Any], _Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy[_Value]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...
    def __get__(self, instance: object | None, owner: type) -> "lazy[_Value] | _Value":
        if instance is None:
            return self
        # What stands in the instance's own dictionary comes before this descriptor from now on.
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
