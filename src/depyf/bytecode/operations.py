"""The normalised operations: one table of what each does to the stack.

Stack pictures read bottom to top, `before -> after`. `...` below is left alone.

Stack
    NULL            -> null            the missing `self` of a call (PUSH_NULL)
    POP             v ->
    COPY n          the value n deep (1 = top) is pushed again
    SWAP n          top and the value n deep change places
                    (ROT_THREE = SWAP 3, SWAP 2; DUP_TOP_TWO = COPY 2, COPY 2)
Constants and names (arg: the constant; the name)
    CONST value     -> v               nested code is a `Code`; RETURN_CONST is CONST, RETURN
    LOAD_FAST STORE_FAST DELETE_FAST   (_CHECK and _BORROW forms are LOAD_FAST)
    LOAD_FAST_CLEAR name -> v or null  the variable is unbound afterwards; STORE_FAST takes null too
    LOAD_DEREF STORE_DEREF DELETE_DEREF
    LOAD_CLOSURE name -> cell          (3.13: LOAD_FAST of a cell variable)
    LOAD_CLASSDEREF name -> v          locals first, then the cell
    LOAD_FROM_DICT_OR_DEREF name, LOAD_FROM_DICT_OR_GLOBALS name    dict -> v
    LOAD_GLOBAL STORE_GLOBAL DELETE_GLOBAL LOAD_NAME STORE_NAME DELETE_NAME
    LOAD_LOCALS     -> dict
    LOAD_COMMON name -> v              AssertionError, NotImplementedError, tuple, all, any...
    LOAD_BUILD_CLASS -> v
    SETUP_ANNOTATIONS
Attributes and items
    LOAD_ATTR name      o -> v
    STORE_ATTR name     v o ->         DELETE_ATTR name    o ->
    LOAD_METHOD name    o -> method self, or null attribute (below); attribute null (above): see CALL
                        arg is (name, shape)
    LOAD_SUPER_ATTR (name, two_args)   super cls self -> v
    LOAD_SUPER_METHOD (name, two_args, shape)  super cls self -> as LOAD_METHOD
    LOAD_SPECIAL name   o -> method self     only where no ENTER_WITH could be recognised
    LOAD_SUBSCR     o k -> v
    STORE_SUBSCR    v o k ->           DELETE_SUBSCR   o k ->
                    BINARY_SLICE is BUILD_SLICE 2, LOAD_SUBSCR; STORE_SLICE likewise
Operators
    UNARY op        v -> v             op: '-' '+' '~' 'not'
    BINARY op, INPLACE op   a b -> v   op: '+' '-' '*' '@' '/' '//' '%' '**' '<<' '>>' '&' '|' '^'
    COMPARE op      a b -> v           op: '<' '<=' '==' '!=' '>' '>='
    IS invert       a b -> bool        CONTAINS invert   item container -> bool
    TO_BOOL         v -> bool          only where no JUMP_IF_x or UNARY 'not' follows
Displays
    BUILD_TUPLE n, BUILD_LIST n, BUILD_SET n, BUILD_STRING n, BUILD_SLICE n (2 or 3)
    BUILD_MAP n                        k v ... -> dict
    BUILD_CONST_KEY_MAP n              v ... keys -> dict     keys is a constant tuple on the stack
    BUILD_TUPLE_UNPACK, BUILD_LIST_UNPACK, BUILD_SET_UNPACK, BUILD_MAP_UNPACK n,
    BUILD_TUPLE_UNPACK_WITH_CALL, BUILD_MAP_UNPACK_WITH_CALL n     (3.8 and older)
    LIST_APPEND i, SET_ADD i           ... v ->       to the container i deep after popping
    MAP_ADD i                          ... k v ->     (3.7 has them the other way: SWAP 2 before)
    LIST_EXTEND, SET_UPDATE, DICT_UPDATE, DICT_MERGE i     ... iterable ->
    LIST_TO_TUPLE   list -> tuple
    UNPACK_SEQUENCE n                  seq -> v_n ... v_1
    UNPACK_EX (before, after)          seq -> after..., list, before...  (first on top)
Formatting
    CONVERT c       v -> str           c: 's' 'r' 'a'
    FORMAT spec     v -> str           spec False
    FORMAT spec     v s -> str         spec True
                    FORMAT_VALUE of 3.12 and older: arg (spec, conversion); newer: (spec, None)
    BUILD_TEMPLATE                     strings interpolations -> template
    BUILD_INTERPOLATION (conversion, spec)   value expression [spec] -> interpolation
Imports
    IMPORT_NAME name    level fromlist -> module
    IMPORT_FROM name    module -> module v
    IMPORT_STAR         module ->
Functions and calls
    MAKE_FUNCTION flags [defaults] [kwdefaults] [annotations] [closure] code -> fn
                    bits 1 2 4 8 say which are there; the qualified name of 3.10 and older is gone
    SET_FUNCTION_ATTRIBUTE flag        value fn -> fn      flag: 1 2 4 8 16 (16: annotate function)
    CALL (n, shape)         callee... a1..an -> v
    CALL_KW (n, shape)      callee... a1..an names -> v    names: constant tuple on the stack
    CALL_EX (has_kwargs, shape)   callee... args [kwargs] -> v
                    shape 'plain': callee is one value; 'below': null callable, or method self;
                    'above': callable null, or callable self
    INTRINSIC name  n values -> v      arg (name, n); those with an operation of their own are not here
Control
    JUMP            target
    JUMP_IF_TRUE, JUMP_IF_FALSE        v ->   target; truth test as by bool()
                    JUMP_IF_x_OR_POP is COPY 1, JUMP_IF_x, POP; POP_JUMP_IF_NONE is CONST None, IS, JUMP_IF
    RETURN          v ->               RAISE n   [exc [cause]] ->       RERAISE n    see below
    GET_ITER        v -> iterator      GET_YIELD_FROM_ITER  v -> iterator
    FOR_ITER        iterator -> iterator v, or at target: ->      (END_FOR is part of it)
    YIELD           v -> sent          YIELD_FROM   iterator None -> result
                    the SEND loop of 3.11 and newer with its CLEANUP_THROW is one YIELD_FROM
    GET_AWAITABLE   v -> iterator      arg: 0, 1 (from __aenter__), 2 (from __aexit__)
    GET_AITER       v -> aiter         GET_ANEXT   aiter -> aiter awaitable
    END_ASYNC_FOR   aiter exc ->       re-raises unless StopAsyncIteration (a handler's first operation)
    SEND            iterator v -> iterator result    target: -> iterator result; only where no YIELD_FROM is recognised
    CLEANUP_THROW   iterator last exc -> None value  likewise
Exceptions and `with`
    PUSH_EXC_INFO   exc -> previous exc
    POP_EXCEPT      previous ->        (3.10 and older: three values)
    CHECK_EXC_MATCH exc type -> exc bool       (older: type type -> bool as MATCH_EXC)
    MATCH_EXC       exc_type type -> bool      3.10 and older
    CHECK_EG_MATCH  exc type -> rest match
    PREP_RERAISE_STAR   orig list -> exc
    RERAISE n       ... exc ->         n: how many below are the saved offset (3.10 and older: pops three)
    ENTER_WITH      manager -> exit result       after it a handler protects the body
    ENTER_ASYNC_WITH  manager -> exit awaitable
    WITH_EXCEPT_START  exit lasti previous exc -> exit lasti previous exc result
                    arg: how deep below the top `exit` is
Pattern matching
    GET_LEN         v -> v n           MATCH_MAPPING, MATCH_SEQUENCE   v -> v bool
    MATCH_KEYS      subject keys -> subject keys values    (None if it does not match; 3.10: then bool, by IS NOT None)
    MATCH_CLASS n   subject class names -> attributes or None  (3.10: attributes-or-subject, bool)
    COPY_DICT_WITHOUT_KEYS   subject keys -> subject rest
"""
