# from 3.7: class bodies, super(), decorators, annotations, closures over __class__
def tag(name):
    def add(cls):
        cls.tags = getattr(cls, "tags", ()) + (name,)
        return cls

    return add


@tag("a")
@tag("b")
class Base:
    """Doc."""

    count = 0
    table = [x for x in range(2) for count in [x]]
    size: int = 3

    def __init__(self, value=1, *rest):
        self.value = value
        self.rest = rest

    def name(self):
        return "base"

    @property
    def double(self):
        return self.value * 2

    @staticmethod
    def plain(x):
        return x

    @classmethod
    def make(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class Meta(type):
    def __new__(meta, name, bases, namespace, **keywords):
        cls = super().__new__(meta, name, bases, namespace)
        cls.keywords = sorted(keywords)
        return cls

    def __init__(cls, name, bases, namespace, **keywords):
        super(Meta, cls).__init__(name, bases, namespace)


class Derived(Base, metaclass=Meta, option=1):
    def __init__(self, *args):
        super().__init__(*args)
        self.cls = __class__.__name__

    def name(self):
        return "derived " + super().name() + super(Derived, self).name()

    class Inner:
        def get(self):
            return [super(__class__, self).__repr__ is not None for _ in range(1)]


def closing(x):
    class Local:
        y = x
        z = y + 1

        def get(self):
            return x, self.z, self.y

    return Local().get()


def main():
    d = Derived(1, 2)
    return [
        Base.tags,
        Base.table,
        d.name(),
        d.value,
        d.rest,
        d.cls,
        d.double,
        Base.plain(3),
        Derived.make(5).value,
        Derived.keywords,
        closing(4),
        Derived.Inner().get(),
        Base.__doc__,
    ]
