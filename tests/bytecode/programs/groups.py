# from 3.11: except*
def groups(*errors):
    log = []
    try:
        try:
            if errors:
                raise ExceptionGroup("g", list(errors))
        except* ValueError as group:
            log.append(("value", len(group.exceptions)))
        except* (KeyError, OSError) as group:
            log.append(("key", [type(error).__name__ for error in group.exceptions]))
        else:
            log.append("else")
        finally:
            log.append("finally")
    except BaseException as error:
        log.append(type(error).__name__)
    return log


def main():
    return [
        groups(),
        groups(ValueError(1)),
        groups(ValueError(1), KeyError(2), OSError(3), ValueError(4)),
        groups(TypeError()),
        groups(ValueError(1), TypeError()),
    ]
