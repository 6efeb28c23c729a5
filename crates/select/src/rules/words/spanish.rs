//! Spanish, as far as it comes for little: what it shares with Portuguese is there.

use super::{Forms, Head, Tongue};

pub(super) const SPANISH: Tongue = Tongue {
    forms: Forms::Romance,
    head: Head::First,
    craft: "refactorizar, refactorear, programar, depurar, codificar",
    change: "\
        añadir, agregar, corregir, corrige, corrija, arreglar, reparar, escribir, reescribir, crear, hacer, haz, \
        desarrollar, construir, construye, generar, eliminar, borrar, quitar, renombrar, mover, extraer, \
        dividir, reemplazar, sustituir, convertir, convierte, migrar, actualizar, cambiar, modificar, ajustar, \
        integrar, conectar, validar, guardar, permitir, configurar, optimizar, mejorar, acelerar, reducir, \
        simplificar, limpiar, resolver, usar, necesitar, necesito, quiero, dame, poner, pon, tocar, corrijas, \
        añade, agrega, elimina, cambia, haga, hagas, pongas, escribas, deshabilitar, habilitar, ordenar, \
        filtrar, unificar, separar",
    translate: "traducir, traduce, traduzca",
    leave: "\
        explicar, revisar, resumir, resume, investigar, describir, comparar, analizar, encontrar, encuentra, \
        listar, mostrar, muestra, decir, dime, verificar, comprobar, auditar, evaluar, estimar, planificar, \
        leer, lee, mirar, documentar, diseñar, recomendar, sugerir, proponer, reiniciar, desplegar, ejecutar, \
        reservar, responder, enviar, preparar, instalar, abrir, cerrar, buscar, organizar, redactar",
    code: "\
        código, función, funciones, método, clase, módulo, paquete, componente, biblioteca, librería, ruta, \
        servicio, servidor, base de datos, consulta, índice, expresión regular, fallo, excepción, prueba \
        unitaria, pruebas unitarias, prueba, dependencia, variable, parámetro, campo, lógica, validación, \
        autenticación, paginación, comando, aplicación, aplicaciones, sitio, página, pantalla, botón, \
        formulario, configuración, juego, rendimiento, carrito, tabla, solicitud, respuesta, sesión, filtro, \
        evento, animación, menú, notificación, extensión, bucle, archivo de configuración, columna, error, \
        errores",
    other: "\
        artículo, texto, carta, correo, mensaje, informe, resumen, documentación, documento, guía, propuesta, \
        plan, plan de pruebas, guion, estrategia, política, proceso, reunión, lista, presupuesto, presentación, \
        imagen, contrato, descripción, pregunta, curso, traducción, vuelo, glosario, cartel, folleto, discurso, \
        certificado, introducción, calendario, evento, charla, opinión, encuesta, guía de usuario, factura, \
        recibo, receta, viaje, nota, notas, acta, agenda, tesis, ensayo, cuento, poema",
    stage: "película, discurso, boda, obra",
    double: "",
    topic: "sobre, para, acerca",
    place: "de, del, en, con, al, por, que, donde, cuando, sin, desde",
    join: "y, luego, después, pero",
    lead: "por, favor, puedes, podrías, hola, me, también, solo, sólo, ahora, primero",
    ask: "necesito, quiero",
    question: "qué, cuál, cuáles, quién, dónde, cuándo, por qué, cómo, cuánto",
    deny: "no, sin, nunca",
    everything: "código, nada, archivos",
    pronoun: "esto, eso, lo, la, todo",
    wish: "debe, debería, tiene que",
    story: &[("como", "quiero"), ("como", "necesito")],
};
